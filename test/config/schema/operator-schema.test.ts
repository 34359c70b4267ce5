import { describe, expect, it } from 'vitest';
import {
  alphaProblems,
  apiSecret,
  loadAlpha,
  operatorYaml,
  problemsOf,
  walletSecret,
} from '../support/folder.ts';

const withBaseUrl = (url: string, allowPrivate: boolean) =>
  problemsOf({
    'operators/alpha.yaml': operatorYaml('alpha', '', `  allowPrivate: ${allowPrivate}`).replace(
      'https://wallet.alpha.example/sportsbook',
      url,
    ),
  });

describe("an operator's file", () => {
  it('fills in every default when only the required settings stand', () => {
    expect(loadAlpha()).toEqual({
      id: 'alpha',
      name: 'Operator alpha',
      status: 'active',
      wallet: {
        adapter: 'native',
        baseUrl: 'https://wallet.alpha.example/sportsbook',
        allowPrivate: false,
        secrets: [walletSecret('alpha')],
        timeoutMs: 4000,
        generation: 1,
        maxConcurrent: { read: 64, money: 256 },
        breaker: { errorPercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000 },
        dialect: expect.objectContaining({ echo: 'check', updates: 'send' }),
      },
      api: {
        cid: 'alpha-key',
        secrets: [apiSecret('alpha')],
        allowedIps: [],
        freshness: 'optional',
      },
      sessions: { mode: 'issued', ttlSeconds: 86_400 },
      currencies: ['EUR'],
      settle: { onFailure: 'error' },
      bonuses: { enabled: true, sharedTemplates: [] },
      delivery: expect.objectContaining({ horizonHours: 72, concurrency: 8 }),
    });
  });

  it('fills in the defaults inside objects that are partly given', () => {
    const alpha = loadAlpha(
      'sessions: { mode: prefixed }\nbonuses: { sharedTemplates: [7] }',
      '  maxConcurrent: { read: 8 }\n  breaker: { openMs: 100 }',
    );
    expect(alpha.sessions).toEqual({ mode: 'prefixed', ttlSeconds: 86_400 });
    expect(alpha.bonuses).toEqual({ enabled: true, sharedTemplates: [7] });
    expect(alpha.wallet.maxConcurrent).toEqual({ read: 8, money: 256 });
    expect(alpha.wallet.breaker).toMatchObject({ errorPercent: 50, openMs: 100 });
  });

  it('names every required setting that is missing', () => {
    const lines = problemsOf({ 'operators/alpha.yaml': 'wallet: {}\napi: {}' });
    const missing = lines.map((line) => /: ([\w.]+): is missing/.exec(line)?.[1]);
    expect(missing.sort()).toEqual([
      'api.cid',
      'api.secrets',
      'currencies',
      'id',
      'name',
      'wallet.baseUrl',
      'wallet.secrets',
    ]);
  });

  it.each([
    ['status: paused', 'status: must be one of active, maintenance, suspended'],
    ['sessions: { mode: open }', 'sessions.mode: must be one of issued, prefixed'],
    ['sessions: { ttlSeconds: 2592001 }', 'sessions.ttlSeconds: must be at most 2592000'],
    ['sessions: { ttlSeconds: 0 }', 'sessions.ttlSeconds: must be at least 1'],
    ['settle: { onFailure: retry }', 'settle.onFailure: must be one of error, queue'],
    ['subPartnerId: ""', 'subPartnerId: must not be empty'],
    ['bonuses: { enabled: "yes" }', 'bonuses.enabled: must be true or false, not text'],
    ['bonuses: { sharedTemplates: [a] }', 'bonuses.sharedTemplates[0]: must be a whole number'],
    ['bonuses: { sharedTemplates: [7, 7] }', 'bonuses.sharedTemplates: has an entry twice'],
    ['bonuses: { upstream: { cid: x } }', 'bonuses.upstream.secrets: is missing'],
    ['delivery: { minBackoffMs: 0 }', 'delivery.minBackoffMs: must be at least 1'],
    ['delivery: { ratePerSecond: 0 }', 'delivery.ratePerSecond: must be more than 0'],
  ])('refuses %s', (more, reason) => {
    expect(alphaProblems(more)).toEqual([expect.stringContaining(`alpha.yaml: ${reason}`)]);
  });

  it.each([
    ['adapter: telepathy', 'wallet.adapter: must be '],
    ['timeoutMs: 0', 'wallet.timeoutMs: must be at least 1'],
    ['timeoutMs: 5001', 'wallet.timeoutMs: must be at most 5000'],
    ['generation: 0', 'wallet.generation: must be at least 1'],
    ['maxConcurrent: { money: 0 }', 'wallet.maxConcurrent.money: must be at least 1'],
    ['breaker: { errorPercent: 101 }', 'wallet.breaker.errorPercent: must be at most 100'],
  ])('refuses a wallet with %s', (wallet, reason) => {
    expect(alphaProblems('', `  ${wallet}`)).toEqual([
      expect.stringContaining(`alpha.yaml: ${reason}`),
    ]);
  });

  it.each([
    ['[]', 'currencies: needs at least 1 entry'],
    ['[EUR, EUR]', 'currencies: has an entry twice: keep one of them'],
    ['[EU]', 'currencies[0]: must have 3 to 5 characters'],
    ['[DOLLAR]', 'currencies[0]: must have 3 to 5 characters'],
    ['[978]', 'currencies[0]: must be text (put it in quotes), not a number'],
  ])('refuses currencies %s', (currencies, reason) => {
    const file = operatorYaml('alpha').replace('[EUR]', currencies);
    expect(problemsOf({ 'operators/alpha.yaml': file })).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    'http://wallet.example',
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://10.1.2.3:8443/api',
    'https://169.254.169.254',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://[fd00:ec2::254]',
    'https://[fe80::1]',
    'https://localhost',
    'https://LOCALHOST.:9000',
    'https://wallet.localhost',
    'https://metadata.google.internal',
  ])('takes %s as a wallet only where private addresses are allowed', (url) => {
    expect(withBaseUrl(url, false)).toEqual([
      expect.stringMatching(/wallet\.baseUrl: .*, or set allowPrivate: true$/),
    ]);
    expect(withBaseUrl(url, true)).toEqual([]);
  });

  it.each(['https://8.8.8.8', 'https://[2606:4700::1111]', 'https://localhost.example'])(
    'takes %s as a public wallet',
    (url) => expect(withBaseUrl(url, false)).toEqual([]),
  );

  it('refuses credentials in the address even if private addresses are allowed', () => {
    expect(withBaseUrl('http://user:hunter2@127.0.0.1', true)).toEqual([
      expect.stringContaining('wallet.baseUrl: must not carry a user name or password'),
    ]);
  });
});
