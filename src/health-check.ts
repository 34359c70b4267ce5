/** The image's health check: exits with 0 if the gateway at `ADMIN_HOST`, `ADMIN_PORT` is alive, else with 1. */
import { get } from 'node:http';
import { reachableHost } from './lib/reachable-host.ts';

/** Below the 3 s that the image gives it. */
const ANSWER_MS = 2_500;
const request = get(
  {
    host: reachableHost(process.env.ADMIN_HOST || '127.0.0.1'),
    port: Number(process.env.ADMIN_PORT || 9090),
    path: '/health/live',
    timeout: ANSWER_MS,
    agent: false,
  },
  (answer) => process.exit(answer.statusCode === 200 ? 0 : 1),
);
request.on('timeout', () => process.exit(1));
request.on('error', () => process.exit(1));
