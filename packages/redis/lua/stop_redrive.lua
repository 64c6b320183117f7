local isRefused = 0
if q.redrive_at then
  --#include read_job
  --#include count_left
  --#include end_redrive
end
--#include read_progress
