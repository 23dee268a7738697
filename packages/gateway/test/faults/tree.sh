# A small server whose children, and theirs, do not end when they are asked to. As `stubborn` it does not either, nor when its input ends.
sh -c 'trap "" TERM INT HUP; sleep 600 & wait; wait' < /dev/null > /dev/null 2>&1 &
trap "" TERM INT HUP
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      version=${line#*\"protocolVersion\":}
      version=${version%%[,\}]*}
      result="{\"protocolVersion\":$version,\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"tree\",\"version\":\"1\"}}" ;;
    *'"tools/list"'*) result='{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}' ;;
    *'"ping"'*) result='{}' ;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id"; continue ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
if [ "$1" = stubborn ]; then while :; do sleep 600; done; fi
