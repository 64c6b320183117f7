# Downloads a URL to a file. The exit code says whether a retry can help:
#
#     workqueue run --input urls.txt --give-up-on 65 --retry-after-on 75 -- sh examples/fetch.sh {} {#}.html
#
# 0   downloaded
# 65  EX_DATAERR: the URL is wrong, or the server answered 4xx
# 75  EX_TEMPFAIL: the server answered 429 or 5xx, or could not be reached
# 1   anything else, such as a full disk
#
# The script passes the server's Retry-After header on to workqueue run: a number of seconds, or a date. Before 7.84,
# curl can't print headers, and the limiter decides about the delay.

url=$1
file=$2
trap 'rm -f -- "$file.part"' EXIT

answer=$(curl -sSL --proto =http,https --connect-timeout 10 -o "$file.part" \
  -w '%{http_code} %header{retry-after}' -- "$url")
case $? in
0) ;;
1 | 3) exit 65 ;;                                  # other protocol, malformed URL
5 | 6 | 7 | 18 | 28 | 35 | 52 | 55 | 56) exit 75 ;; # name, connection, timeout, handshake, broken transfer
*) exit 1 ;;
esac

status=${answer%% *}
after=${answer#* }
case $status in
2??)
  mv -- "$file.part" "$file" || exit 1
  exit
  ;;
429 | 5??) code=75 ;;
*) code=65 ;;
esac

case $after in
'' | %header*) ;; # no header, or an old curl
*) echo "retry-after: $after" >&2 ;;
esac
echo "HTTP status $status" >&2
exit $code
