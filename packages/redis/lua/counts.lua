q.makeDueReady()
--#include set_numbers
