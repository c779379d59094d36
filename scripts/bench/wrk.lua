-- What load.ts has wrk do: wrk … URL -- METHOD BODY_FILE THINK_MS. Prints the outcome as JSON.
function init(args)
  wrk.method = args[1]
  if args[2] ~= "" then
    local file = assert(io.open(args[2], "rb"))
    wrk.body = file:read("*a")
    file:close()
  end
  local think_ms = tonumber(args[3])
  -- Spread evenly, so that connections do not fall into step. Its mere presence costs wrk something.
  if think_ms > 0 then
    math.randomseed(os.time())
    function delay()
      return math.random(0, 2 * think_ms)
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%f,"faults":{"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d},"p50Ms":%f,"p99Ms":%f}',
    summary.requests, summary.duration / 1e6,
    errors.status, errors.connect, errors.read, errors.write, errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  ))
end
