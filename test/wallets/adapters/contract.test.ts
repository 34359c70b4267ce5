import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operatorSchema } from '../../../src/config/schema/schema.ts';
import type { BetOperation } from '../../../src/domain/operation.ts';
import type { HttpResponse } from '../../../src/outbound/http-message.ts';
import { ADAPTER_NAMES, createAdapter } from '../../../src/wallets/adapters/index.ts';
import { betCall, manualClock, readCall, SECRET, walletSettings } from '../support/calls.ts';
import { SPECIMENS, type Specimen } from './support/specimens.ts';

/**
 * What every adapter must guarantee, whatever its wallet's protocol looks like (docs/adding-an-adapter.md). The
 * rest of the gateway relies on this and nothing else.
 */

const BET_OPERATIONS: readonly BetOperation[] = [
  'place',
  'settle',
  'unsettle',
  'rollback',
  'update',
];
const READS = ['profile', 'balance'] as const;
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Numbers that a double would change, and unknown members. */
const MESSAGE =
  '{"transactionId":"t-1","userId":"u-1","token":"a-token","requestId":"r-1","type":1,' +
  '"amount":12.10,"currency":"EUR","coefficient":1.500,"big":9007199254740993,"odd":{"é":[null]}}';

it('every adapter of the list has its specimen here, and its name in the configuration', () => {
  expect(Object.keys(SPECIMENS).sort()).toEqual([...ADAPTER_NAMES].sort());
  const adapter = (name: string) =>
    operatorSchema.shape.wallet.safeParse(walletNamed(name)).success;
  for (const name of ADAPTER_NAMES) expect([name, adapter(name)]).toEqual([name, true]);
  expect(adapter('nobody-wrote-it')).toBe(false);
});

function walletNamed(adapter: string) {
  return {
    adapter,
    baseUrl: 'https://wallet.example',
    secrets: ['the-secret-that-the-wallet-shares'],
  };
}

it('a name that is not in the list is refused', () => {
  for (const adapter of ['', 'nobody-wrote-it', 'toString', '__proto__']) {
    expect(() => createAdapter(walletSettings({ adapter }), manualClock())).toThrow(
      /no wallet adapter/,
    );
  }
});

describe.each(ADAPTER_NAMES)('the adapter %s', (name) => {
  const specimen = specimenOf(name);
  const clock = manualClock();
  const adapterAt = (baseUrl: string) =>
    createAdapter(walletSettings({ ...specimen.settings, adapter: name, baseUrl }), clock);
  const adapter = adapterAt('https://wallet.example/base');
  const bet = (operation: BetOperation) =>
    betCall({
      operation,
      method: operation === 'place' ? 'POST' : 'PUT',
      transactionId: 't-1',
      requestId: 'r-1',
      body: MESSAGE,
    });
  const verdict = (operation: BetOperation, response: HttpResponse) =>
    adapter.betVerdict(bet(operation), response);

  describe('a request', () => {
    const requests = [
      ...BET_OPERATIONS.map(
        (operation) => [operation, adapter.betRequest(bet(operation), 1000)] as const,
      ),
      ...READS.map(
        (operation) =>
          [operation, adapter.readRequest(readCall({ operation, body: MESSAGE }), 1000)] as const,
      ),
    ];

    it.each(requests)('of a %s goes below the base address', (_, { method, path }) => {
      expect(['POST', 'PUT']).toContain(method);
      expect(path).toMatch(/^\/base(\/|\?|$)/);
      expect(path).toMatch(/^[\x21-\x7e]+$/);
    });

    it.each(requests)('of a %s asks for an answer of bounded size, as it is', (_, request) => {
      expect(request.answerBytesMax).toBeGreaterThan(0);
      expect(request.answerBytesMax).toBeLessThanOrEqual(1024 * 1024);
      expect(request.headers['accept-encoding']).toBe('identity');
    });

    it.each(requests)(
      'of a %s has headers that HTTP takes, and none that frame it',
      (_, request) => {
        for (const [header, value] of Object.entries(request.headers)) {
          expect(header).toMatch(/^[a-z0-9-]+$/);
          expect(value).toMatch(/^[\t\x20-\x7e]*$/);
          expect(['content-length', 'transfer-encoding', 'connection', 'host']).not.toContain(
            header,
          );
        }
      },
    );

    it.each(requests)('of a %s shows no secret', (_, { path, headers, body }) => {
      expect([path, ...Object.values(headers), String(body)].join('\n')).not.toContain(SECRET);
    });

    it.each(BET_OPERATIONS)('of a %s carries the stake with its exact text (I9)', (operation) => {
      expect(String(adapter.betRequest(bet(operation), 1000).body)).toContain('12.10');
    });

    it.each(BET_OPERATIONS)('of a %s names the bet and its player', (operation) => {
      const { path, body } = adapter.betRequest(bet(operation), 1000);
      expect(`${path} ${body}`).toContain('t-1');
      expect(`${path} ${body}`).toContain('u-1');
    });

    it('tells the operations apart', () => {
      const wires = requests.map(([, { method, path, body }]) => `${method} ${path} ${body}`);
      // All were made from one message, so only what the adapter adds can distinguish them: a place from later
      // operations, and reads from each other and from bets.
      const [place, settle] = wires;
      expect(place).not.toBe(settle);
      expect(new Set([place, ...wires.slice(-2)]).size).toBe(3);
    });
  });

  describe('an answer to a bet call', () => {
    it.each(BET_OPERATIONS)('to a %s is accepted by the wallet’s good one', (operation) => {
      const accepted = verdict(operation, specimen.accepts({ transactionId: 't-1' }));
      expect(accepted).toEqual({
        kind: 'accepted',
        transactionTime: expect.stringMatching(ISO_UTC),
      });
    });

    it.each(BET_OPERATIONS)('to a %s about another bet is not', (operation) => {
      expect(verdict(operation, specimen.accepts({ transactionId: 't-2' })).kind).toBe('unknown');
    });

    it.each([7, 3, 4, 9, 11, 14])('is declined with the protocol’s code %i', (code) => {
      const declined = verdict('place', specimen.refuses(code));
      expect(declined).toMatchObject({ kind: 'declined', code, message: expect.any(String) });
    });

    it.each([8, 10, 100])('leaves a place open with code %i (I2)', (code) => {
      expect(verdict('place', specimen.refuses(code)).kind).toBe('unknown');
    });

    it('says that a rollback was done before as code 8', () => {
      expect(verdict('rollback', specimen.refuses(8))).toMatchObject({ kind: 'declined', code: 8 });
    });

    it('has a message of bounded length', () => {
      const { body, status } = specimen.refuses(7);
      const long = Buffer.from(String(body).replace('No', 'x'.repeat(10_000)));
      const said = verdict('place', { status, body: long });
      if (said.kind === 'declined') expect(said.message.length).toBeLessThanOrEqual(255);
    });

    const anyBody = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('', '{}', '[]', 'null', '0', '<html>', '{"code":', 'OK')
        .map((text) => Buffer.from(text)),
      fc.integer({ min: -1, max: 110 }).map((code) => specimen.refuses(code).body),
      fc.constant(specimen.accepts({ transactionId: 't-1' }).body),
    );
    const operation = fc.constantFrom(...BET_OPERATIONS);

    it('never throws, and is one of three things', () => {
      const status = fc.integer({ min: 200, max: 599 });
      fc.assert(
        fc.property(operation, status, anyBody, (which, any, body) => {
          expect(['accepted', 'declined', 'unknown']).toContain(
            verdict(which, { status: any, body }).kind,
          );
        }),
      );
    });

    it('of a status of 500 or above is unknown, whatever it says (I2)', () => {
      const status = fc.integer({ min: 500, max: 599 });
      fc.assert(
        fc.property(operation, status, anyBody, (which, failing, body) => {
          expect(verdict(which, { status: failing, body }).kind).toBe('unknown');
        }),
      );
    });

    it('that is no message at all neither accepts nor declines (I2)', () => {
      const { status } = specimen.accepts({ transactionId: 't-1' });
      for (const text of ['', ' ', '<html>OK</html>', 'OK', 'null', '[]', '\ufeff{}']) {
        expect(verdict('place', { status, body: Buffer.from(text) }).kind).toBe('unknown');
      }
    });

    it('that broke off neither accepts nor declines (I2)', () => {
      const good = specimen.accepts({ transactionId: 't-1' });
      for (let length = 0; length < good.body.length; length += 1) {
        const cut = { ...good, body: good.body.subarray(0, length) };
        expect(verdict('place', cut).kind).toBe('unknown');
      }
    });

    it('declines no place with a code that leaves it open (I2)', () => {
      const status = fc.integer({ min: 200, max: 599 });
      fc.assert(
        fc.property(status, anyBody, (any, body) => {
          const said = verdict('place', { status: any, body });
          if (said.kind === 'declined') expect([8, 10, 100]).not.toContain(said.code);
        }),
      );
    });
  });

  describe('an answer to a read', () => {
    const read = (operation: (typeof READS)[number], response: HttpResponse) =>
      adapter.readVerdict(readCall({ operation }), response);

    it('of a profile is the protocol’s message, with the operator’s player', () => {
      const said = read('profile', specimen.profile('u-1', 'EUR'));
      if (said.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(said)}`);
      expect(said.document.value).toMatchObject({ userId: 'u-1', currency: 'EUR' });
    });

    it('of a balance is the protocol’s message, with the exact amount (I9)', () => {
      const amount = '9007199254740993.10';
      const said = read('balance', specimen.balance({ operation: 'balance' }, amount));
      if (said.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(said)}`);
      expect(said.document.numberText('amount')).toBe(amount);
    });

    it.each(READS)('of a %s is refused with the protocol’s code', (operation) => {
      expect(read(operation, specimen.refuses(3))).toMatchObject({ kind: 'declined', code: 3 });
    });

    it.each(READS)('of a %s that makes no sense is unknown, and nothing throws', (operation) => {
      for (const text of ['', '{}', '<html>', 'null', '{"userId":5}']) {
        for (const status of [200, 204, 302, 404, 500, 503]) {
          expect(read(operation, { status, body: Buffer.from(text) }).kind).toBe('unknown');
        }
      }
    });
  });

  it('says which items of the dialect its callers have to keep', () => {
    expect(adapter.callerDialect).toEqual({
      alwaysSendToken: expect.any(Boolean),
      stableRequestId: expect.any(Boolean),
      holdUnknownRepeats: expect.any(Boolean),
      skipUpdates: expect.any(Boolean),
    });
  });
});

function specimenOf(name: string): Specimen {
  const specimen = SPECIMENS[name];
  if (specimen === undefined) throw new Error(`give ${name} its specimen in specimens.ts`);
  return specimen;
}
