import { it } from 'vitest';
import { certification, ids, sandbox, suggested } from './support/certification.ts';
import * as flawed from './support/flawed-wallets.ts';

it('x', async () => {
  for (const m of [{}, flawed.missesUnknownRollbacks]) {
    const wallet = await sandbox(m);
    wallet.misbehave('any', { kind: 'delay', ms: 50 });
    const t = performance.now();
    const c = await certification(wallet);
    console.log(
      Math.round(performance.now() - t),
      c.verdict,
      c.callCount,
      suggested(c),
      c.withheld,
    );
    const g: Record<string, number> = {};
    for (const x of c.cases) g[x.group] = (g[x.group] ?? 0) + x.durationMs;
    console.log(g);
  }
}, 120000);
