#!/bin/sh
# Process 1 of the image: runs the gateway, or the `wagergate` command that stands behind the image's
# name. The kernel drops a signal that process 1 has no handler for, and Node has none in its first
# tenth of a second; this shell has, at once, and passes on what comes.
#
#   docker run wagergate              the gateway
#   docker run wagergate migrate      wagergate migrate
#   docker run -it wagergate sh       a shell

# Before anything else: what comes earlier is dropped.
child=''
stopped=''
# Until it has become Node, the child is a copy of this shell, which may take a signal and forget it.
pass() {
  looks=0
  while [ "$looks" -lt 100 ] && [ "/proc/$child/exe" -ef "/proc/$$/exe" ]; do
    looks=$((looks + 1))
    sleep 0.01
  done
  kill "-$1" "$child" 2>/dev/null
}
stop() {
  stopped=yes
  [ -z "$child" ] || pass TERM
}
trap stop TERM INT
trap '[ -z "$child" ] || pass HUP' HUP

# Where a container has 512 MiB, Node gives new objects 1 MiB at a time: what a callback makes outlives
# that, and a balance took up to twice the processor time. Not where NODE_OPTIONS says otherwise.
flags=--max-semi-space-size=32
case "${NODE_OPTIONS-}" in *semi?space?size*) flags='' ;; esac
# Many calls under way look to V8 as if what they make stayed. It would then make that in old space, where only
# a major collection frees it (docs/decisions/0013-short-lived-objects.md).
flags="$flags --no-allocation-site-pretenuring"

here=${0%/*}
case "${1-}" in
  '')
    # shellcheck disable=SC2086 # one argument or two
    set -- node $flags "$here/main.ts"
    gateway=yes
    ;;
  sh | node | /*) trap - TERM INT HUP; exec "$@" ;;
  wagergate)
    shift
    set -- node "$here/cli/wagergate.ts" "$@"
    ;;
  *) set -- node "$here/cli/wagergate.ts" "$@" ;;
esac

# A shell gives its background processes no standard input, unless it is told to.
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&-
# It came between the traps and the line above.
[ -z "$stopped" ] || pass TERM

code=0
while :; do
  wait "$child"
  code=$?
  # A signal ends `wait` as well.
  kill -0 "$child" 2>/dev/null || break
done
# Node itself was still starting: nothing had begun.
[ "$code" = 143 ] && [ -n "$stopped" ] && [ "${gateway-}" = yes ] && exit 0
exit "$code"
