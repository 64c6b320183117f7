-- Takes the next step of the job if it is due.
if q.redrive_at and q.redrive_at <= now then
  --#include redrive_step
end
