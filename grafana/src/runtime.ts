import { board } from './board.ts';
import { UP } from './colours.ts';
import { series, stat, timeline } from './panels.ts';
import { orZero } from './promql.ts';

/** As the alert `WagergateProcessMissing` counts them. Those that were removed on purpose are no targets any more. */
const GONE = `count(min by (job, instance) (up) == 0
  and on (job, instance) max by (job, instance) (last_over_time(gateway_build_info[1d])))
  or 0 * max(gateway_build_info)`;

/** The processes, and the servers that they need. */
export const runtime = board({
  name: 'runtime',
  title: 'Wagergate / Runtime',
  why: 'The gateway’s own health: processes, event loop, memory, pools, PostgreSQL, Redis, configuration.',
  operators: 'none',
  rows: {
    'At a glance': [
      stat({
        title: 'Replicas',
        why: 'How many replicas are scraped, of which versions? Two versions for a long time mean that a rollout is stuck.',
        unit: 'short',
        width: 6,
        lowest: 'red',
        steps: [[1, 'green']],
        names: 'too',
        queries: { '{{version}}': 'count by (version) (gateway_build_info)' },
      }),
      stat({
        title: 'Replicas gone',
        why: 'How many of a day’s replicas should be there and do not answer Prometheus?',
        unit: 'short',
        width: 6,
        steps: [[1, 'red']],
        queries: { gone: GONE },
      }),
      stat({
        title: 'Youngest',
        why: 'How long ago did a replica last start? A number that stays small is a replica that keeps dying.',
        unit: 's',
        width: 6,
        lowest: 'red',
        steps: [
          [300, 'yellow'],
          [3_600, 'green'],
        ],
        queries: {
          age: 'min(time() - process_start_time_seconds and on (instance, job) gateway_build_info)',
        },
      }),
      stat({
        title: 'Invalid files',
        why: 'How many files are invalid on some replica? Their last valid versions stay in force, and after a start none; the log names file, path and reason.',
        unit: 'short',
        width: 6,
        steps: [[1, 'red']],
        queries: { files: orZero('count(count by (file) (gateway_config_invalid == 1))') },
      }),
    ],
    Processes: [
      series({
        title: 'Event loop lag',
        why: 'How long does a callback wait for the processor? It is spent from the deadline. p99 over 100 ms: more replicas or `WORKERS`. A longest of seconds beside a small p99: the process is held up from outside, such as by a CPU limit.',
        unit: 's',
        width: 8,
        steps: [
          [0.1, 'yellow'],
          [0.5, 'red'],
        ],
        // One stop of many seconds is one of a thousand values between two scrapes: no percentile shows it.
        queries: {
          '{{instance}} p99': 'max by (instance) (nodejs_eventloop_lag_p99_seconds)',
          '{{instance}} longest': 'max by (instance) (nodejs_eventloop_lag_max_seconds)',
        },
      }),
      series({
        title: 'Processor',
        why: 'How many cores does each replica use? One process uses at most a little over one.',
        unit: 'short',
        width: 8,
        queries: {
          '{{instance}}': 'sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]))',
        },
      }),
      series({
        title: 'Memory',
        why: 'Does it grow without end? Resident memory climbs for an hour after the start and then stays.',
        unit: 'bytes',
        width: 8,
        queries: {
          '{{instance}} resident': 'sum by (instance) (process_resident_memory_bytes)',
          '{{instance}} heap used': 'sum by (instance) (nodejs_heap_size_used_bytes)',
        },
      }),
      series({
        title: 'Garbage collection',
        why: 'Which share of its time does a process spend collecting garbage?',
        unit: 'percentunit',
        width: 8,
        steps: [[0.1, 'red']],
        queries: {
          '{{instance}}':
            'sum by (instance) (rate(nodejs_gc_duration_seconds_sum[$__rate_interval]))',
        },
      }),
      series({
        title: 'Open file descriptors',
        why: 'Are connections given back? A line that only climbs is a leak.',
        unit: 'short',
        width: 8,
        queries: { '{{instance}}': 'sum by (instance) (process_open_fds)' },
      }),
      series({
        title: 'Wallet calls in flight',
        why: 'How much does each replica carry? One far above the others has connections that stick to it.',
        unit: 'short',
        width: 8,
        queries: { '{{instance}}': 'sum by (instance) (gateway_in_flight)' },
      }),
    ],
    'PostgreSQL and Redis': [
      timeline(
        {
          title: 'PostgreSQL and Redis',
          why: 'Does each replica reach its servers? Without PostgreSQL nothing new is accepted; without Redis it is slower.',
          unit: 'short',
          width: 12,
          lowest: 'red',
          steps: [[1, 'green']],
          queries: {
            '{{instance}} PostgreSQL': 'min by (instance) (gateway_postgresql_up)',
            '{{instance}} Redis': 'min by (instance) (gateway_redis_up)',
          },
        },
        UP,
      ),
      series({
        title: 'Statements that wait',
        why: 'How many statements have no connection yet? Steadily above zero, every callback pays for it.',
        unit: 'short',
        width: 12,
        steps: [[50, 'red']],
        queries: { '{{instance}}': 'sum by (instance) (gateway_postgresql_waiting)' },
      }),
      series({
        title: 'Slices by trigger',
        why: 'Does the scheduler in Redis wake the delivery workers? `sweep` stands in while Redis is away.',
        unit: 'ops',
        width: 12,
        queries: { '{{by}}': 'sum by (by) (rate(gateway_drains_total[$__rate_interval]))' },
      }),
      series({
        title: 'Configuration reloads',
        why: 'When did the configuration change, and was it good?',
        unit: 'short',
        width: 12,
        queries: {
          '{{result}}':
            'sum by (result) (increase(gateway_config_reloads_total[$__rate_interval]))',
        },
      }),
    ],
  },
});
