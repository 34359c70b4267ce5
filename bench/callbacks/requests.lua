-- For wrk: sends the requests of a file in order and prints a summary in JSON. If they run out it starts
-- again, which repeats bets. In the file, a line with its length in bytes precedes each request.
local requests, at = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for bytes in file:lines() do
    requests[#requests + 1] = file:read(tonumber(bytes))
  end
  file:close()
end

function request()
  at = at + 1
  if at > #requests then at = 1 end
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"answered":%d,"elapsedUs":%d,"p50Us":%d,"p99Us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
