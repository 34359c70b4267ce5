import { describe, expect, it } from 'vitest';
import { GATEWAY, gatewayProblems, load, problemsOf, SERVICE_SECRET } from '../support/folder.ts';

const gatewayWith = (more: string) => load({ 'gateway.yaml': `${GATEWAY}${more}\n` }).gateway;

describe('gateway.yaml', () => {
  it('fills in every default when only the required settings stand', () => {
    expect(load({}).gateway).toEqual({
      service: {
        cid: 'aggregator-key',
        secrets: [SERVICE_SECRET],
        bonusApiUrl: 'https://s2s.example',
        bonusTimeoutMs: 10_000,
        allowedIps: [],
        trustProxy: false,
      },
      deadline: { totalMs: 4800, reserveMs: 300 },
      http: { maxConnections: 2000 },
      idempotency: { ttlSeconds: 86_400 },
      delivery: {
        horizonHours: 72,
        minBackoffMs: 1000,
        maxBackoffMs: 300_000,
        confirmUnknownAfterMs: 60_000,
        originateRollbackAfterMs: 600_000,
        concurrency: 8,
      },
      evidence: { acceptedBytes: 512, otherBytes: 4096 },
      books: {
        timeZone: 'UTC',
        closeAfterMinutes: 60,
        closeAtLatestMinutes: 1440,
        reconciliationMebibytesMax: 4096,
      },
    });
  });

  it('takes a time zone by its name, and neither offset nor abbreviation, which PostgreSQL reads otherwise', () => {
    const zone = 'books: { timeZone: Europe/Berlin }';
    expect(gatewayWith(zone).books.timeZone).toBe('Europe/Berlin');
    for (const wrong of ['+02:00', 'Europe/Nowhere', '" UTC"', '""', 'CET', 'IST', 'eet']) {
      expect(gatewayProblems(`books: { timeZone: ${wrong} }`)).toEqual([
        expect.stringContaining('books.timeZone: must be a time zone such as Europe/Berlin or UTC'),
      ]);
    }
  });

  it('fills in the defaults inside an object that is partly given', () => {
    const gateway = gatewayWith('deadline: { totalMs: 3000 }\ndelivery: { horizonHours: 0.5 }');
    expect(gateway.deadline).toEqual({ totalMs: 3000, reserveMs: 300 });
    expect(gateway.delivery).toMatchObject({ horizonHours: 0.5, minBackoffMs: 1000 });
  });

  it('takes an object with everything below it commented out as left out', () => {
    expect(gatewayWith('deadline:\n  # totalMs: 3000').deadline.totalMs).toBe(4800);
  });

  it('names every required setting that is missing', () => {
    expect(problemsOf({ 'gateway.yaml': 'service: {}' })).toEqual([
      "gateway.yaml: service.cid: is missing: add it (The aggregator's partner API key at the service)",
      expect.stringMatching(/^gateway\.yaml: service\.secrets: is missing: add it/),
      expect.stringMatching(/^gateway\.yaml: service\.bonusApiUrl: is missing: add it/),
    ]);
  });

  it('takes plain http for the bonus API and drops a trailing slash', () => {
    const file = GATEWAY.replace('https://s2s.example', 'http://s2s.example:8080/base/');
    const { service } = load({ 'gateway.yaml': file }).gateway;
    expect(service.bonusApiUrl).toBe('http://s2s.example:8080/base');
  });

  it.each([
    ['ftp://s2s.example', 'must be an absolute address such as https://wallet.example/api'],
    ['s2s.example', 'must be an absolute address such as https://wallet.example/api'],
    ['https://user:hunter2@s2s.example', 'must not carry a user name or password'],
    ['https://s2s.example/?token=hunter2', 'must not carry a query or fragment'],
    ['"https://s2s.example/#hunter2"', 'must not carry a query or fragment'],
  ])('refuses %s as an address without repeating it', (url, reason) => {
    const lines = problemsOf({ 'gateway.yaml': GATEWAY.replace('https://s2s.example', url) });
    expect(lines).toEqual([expect.stringContaining(`service.bonusApiUrl: ${reason}`)]);
    expect(lines.join()).not.toContain('hunter2');
  });

  it.each([
    ['secrets: []', 'service.secrets: needs at least 1 entry'],
    ['secrets: [""]', 'service.secrets[0]: must not be empty: give the secret'],
    ['secrets: ["  "]', 'service.secrets[0]: must not be empty: give the secret'],
    ['secrets: hunter2', 'service.secrets: must be a list, such as [a, b], not text'],
  ])('refuses %s', (secrets, reason) => {
    const file = GATEWAY.replace(`secrets: [${SERVICE_SECRET}]`, secrets);
    expect(problemsOf({ 'gateway.yaml': file })).toEqual([expect.stringContaining(reason)]);
  });

  it('takes CIDRs of both families for callers and proxies', () => {
    const more =
      '  allowedIps: [10.0.0.0/8, "2001:db8::/32", 192.0.2.7/32]\n  trustProxy: ["::1/128"]';
    const { service } = gatewayWith(more);
    expect(service.allowedIps).toHaveLength(3);
    expect(service.trustProxy).toEqual(['::1/128']);
  });

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/08', '"::/129"', 'fe80::1%eth0/64', 'proxy/8'])(
    'refuses %s as a CIDR and says how one looks',
    (range) => {
      expect(gatewayProblems(`  allowedIps: [${range}]`)).toEqual([
        'gateway.yaml: service.allowedIps[0]: must be a CIDR such as 10.0.0.0/8, or 192.0.2.7/32 for one address',
      ]);
    },
  );

  it('refuses to trust every proxy', () => {
    expect(gatewayProblems('  trustProxy: true')).toEqual([
      expect.stringContaining('service.trustProxy: must be false, or the CIDRs of the proxies'),
    ]);
  });

  it.each([
    ['deadline: { totalMs: 5001 }', 'deadline.totalMs: must be at most 5000'],
    ['deadline: { totalMs: two }', 'deadline.totalMs: must be a whole number, not text'],
    ['deadline: { reserveMs: -1 }', 'deadline.reserveMs: must be at least 0'],
    ['deadline: { totalMs: 1.5 }', 'deadline.totalMs: must be a whole number, not a fraction'],
    ['deadline: { totalMs: "4800" }', 'deadline.totalMs: must be a whole number, not text'],
    ['deadline: { totalMs: 300 }', 'deadline.reserveMs: 300 leaves less of totalMs (300)'],
    // No wallet would have a chance: every bet would be refused unsent.
    ['deadline: { reserveMs: 4751 }', 'deadline.reserveMs: 4751 leaves less of totalMs (4800)'],
    ['deadline: { totalMs: 49, reserveMs: 0 }', 'deadline.reserveMs: 0 leaves less of totalMs'],
    ['idempotency: { ttlSeconds: -1 }', 'idempotency.ttlSeconds: must be at least 1'],
    ['delivery: { horizonHours: 0 }', 'delivery.horizonHours: must be more than 0'],
    ['delivery: { horizonHours: .inf }', 'delivery.horizonHours: must be a number, not infinity'],
    ['delivery: { minBackoffMs: 400000 }', 'delivery.minBackoffMs: 400000 is above maxBackoffMs'],
    ['delivery: { concurrency: 0 }', 'delivery.concurrency: must be at least 1'],
    ['delivery: 5', 'delivery: must be a group of keys, not a number'],
    // A day would be due only once it may no longer wait for what is open.
    [
      'books: { closeAfterMinutes: 120, closeAtLatestMinutes: 119 }',
      'books.closeAfterMinutes: 120 is more than closeAtLatestMinutes (119)',
    ],
  ])('refuses %s', (more, reason) => {
    expect(gatewayProblems(more)).toEqual([expect.stringContaining(`gateway.yaml: ${reason}`)]);
  });
});
