local isLeft = false
if q.plan then isLeft = q.ordered().drop() end
--#include drop_past_order
q.order, q.fair = false, false
return q.reply((isLeft or past[1]) and 1 or 0)
