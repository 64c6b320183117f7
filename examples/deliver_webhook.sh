# Simulates the delivery of a webhook. Billing is down at first: it answers the first four attempts of each webhook with
# 503. This depends on the attempt and not on the time, so every run is the same.
#
#     workqueue run --input examples/webhooks.txt -- sh examples/deliver_webhook.sh {}

webhook=$1
attempt=${WORKQUEUE_ATTEMPT:-1}

case $webhook in
billing/*)
  if [ "$attempt" -le 4 ]; then
    sleep 0.1
    echo "503: billing is down" >&2
    exit 1
  fi
  ;;
esac

sleep 0.2
if [ "$attempt" -eq 1 ]; then
  echo "delivered $webhook"
else
  echo "delivered $webhook (attempt $attempt)"
fi
