--#include drop_given_up
return q.reply(dropped == BATCH and 1 or 0)
