local isRefused = 0
if q.redrive_at and q.redrive_at <= now then
  q.makeDueReady()
  --#include redrive_step
  q.wakeForReady()
end
--#include read_progress
