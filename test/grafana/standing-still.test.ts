import { expect, it } from 'vitest';
import { openDeployment } from '../process/support/deployment.ts';
import { boards, panelsOf } from './support/boards.ts';

const STOPPED_MS = 1_500;
/** Long enough for several hundred values. */
const RUNNING_MS = 4_000;

it('shows on Runtime that a process stood still, of which no percentile says anything', async () => {
  const deployment = await openDeployment();
  const { process: gateway, adminUrl } = await deployment.replica();
  const metrics = async () => await (await fetch(`${adminUrl}/metrics`)).text();
  // Each scrape begins the measure anew; the start's own lag goes with this one.
  await metrics();
  const runsUntilMs = performance.now() + RUNNING_MS;
  while (performance.now() < runsUntilMs) await fetch(`${adminUrl}/health/live`);
  // Not by way of its supervisor, which a busy machine may let send it only after the request is answered.
  process.kill(gateway.pid, 'SIGSTOP');
  const live = fetch(`${adminUrl}/health/live`, { signal: AbortSignal.timeout(STOPPED_MS) });
  await expect(live).rejects.toThrow('timeout');
  process.kill(gateway.pid, 'SIGCONT');
  const scraped = await metrics();

  const panel = boards()
    .flatMap(panelsOf)
    .find(({ title }) => title === 'Event loop lag');
  const shown = (panel?.targets ?? []).map(({ expr }) => {
    const [name] = /nodejs_\w+/.exec(expr) ?? [];
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(scraped)?.[1]);
  });
  expect(Math.max(...shown)).toBeGreaterThan((0.8 * STOPPED_MS) / 1000);
  await gateway.stop();
  await deployment.close();
});
