import { it } from 'vitest';
import { certification, ids, sandbox, suggested } from './support/certification.ts';
import * as flawed from './support/flawed-wallets.ts';

const all = Object.entries(flawed).map(
  ([name, m]) =>
    [
      name,
      typeof m === 'function'
        ? (m as any)(
            name === 'codeIn'
              ? 'errorCode'
              : name === 'without'
                ? 'transactionId'
                : name === 'successCode'
                  ? 1
                  : name === 'knowsPlayersByDigits'
                    ? 'ann'
                    : 9,
          )
        : m,
    ] as const,
);
it('x', async () => {
  for (const [name, mistake] of all) {
    const wallet = await sandbox(mistake as any);
    if ('answerAfterMs' in (mistake as any))
      wallet.misbehave('settle', { kind: 'delay', ms: (mistake as any).answerAfterMs });
    wallet.addPlayer({
      user: 'bob',
      isTest: true,
      balances: { USD: '500' },
      tokens: { 'bob-usd-token': 'USD' },
    });
    const t = performance.now();
    const c = await certification(wallet, { other: { userId: 'bob', token: 'bob-usd-token' } });
    console.log(
      name,
      Math.round(performance.now() - t),
      c.verdict,
      '| FAILED',
      ids(c, 'failed')
        .map((id) => id + ':' + c.cases.find((x) => x.id === id)!.meaning)
        .join(' '),
      '| WARNED',
      ids(c, 'warned').join(' '),
      '| SUG',
      suggested(c).join('; '),
      '| WITH',
      c.withheld.map((w) => w.yaml.replaceAll(/\s+/g, ' ') + ' ' + w.why).join('; '),
      '|',
      c.verification?.passedBefore,
      c.verification?.passedAfter,
      c.verification?.stillFailing.join(' '),
    );
  }
}, 120000);
