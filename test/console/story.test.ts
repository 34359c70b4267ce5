import { describe, expect, it } from 'vitest';
import type { ShownBet } from '../../src/console/pages/bet/bet.ts';
import { nextSteps } from '../../src/console/pages/bet/next-steps.ts';
import { sequenceOf } from '../../src/console/pages/bet/sequence.ts';
import { stateOf, storyOf } from '../../src/console/pages/bet/story.ts';
import { at, attempt, bet, operation } from './support/shown-bet.ts';

const texts = (one: ShownBet) => storyOf(one).map(({ text }) => text);

describe("a bet's story", () => {
  it('is told in the order in which it happened', () => {
    const rollback = operation({
      operation: 'rollback',
      receivedAt: at(5),
      request: '{}',
      delivery: { id: '7', state: 'delivered' },
      attempts: [
        attempt({
          startedAt: at(5),
          result: 'timeout',
          status: null,
          error: 'no answer within 3996 ms',
        }),
        attempt({ number: 2, startedAt: at(60) }),
      ],
    });
    expect(texts(bet({ state: 'rolled_back', operations: [operation(), rollback] }))).toEqual([
      'The service asked to place the bet: 12.10 USD.',
      'The wallet accepted it after 20 ms.',
      'The service was told yes (200).',
      'The service asked to roll the bet back.',
      'Attempt 1: the wallet gave no answer in time (no answer within 3996 ms), so nobody knew whether it took it.',
      'The service was told yes (200).',
      'Attempt 2: the wallet accepted it after 20 ms.',
      'The rollback was delivered: the wallet confirmed it.',
    ]);
  });

  it.each([-3_600, 3_600])(
    'keeps its order where the clock of a process is wrong by %i s',
    (wrongBy) => {
      const place = operation({ attempts: [attempt({ startedAt: at(wrongBy) })] });
      const rollback = operation({
        operation: 'rollback',
        receivedAt: at(5),
        request: '{}',
        delivery: { id: '7', state: 'delivered' },
        attempts: [
          attempt({ startedAt: at(5 + wrongBy), result: 'http_error', error: 'HTTP status 500' }),
          attempt({ number: 2, startedAt: at(6) }),
        ],
      });
      const one = bet({ state: 'rolled_back', operations: [place, rollback] });
      expect(texts(one)).toEqual([
        'The service asked to place the bet: 12.10 USD.',
        'The wallet accepted it after 20 ms.',
        'The service was told yes (200).',
        'The service asked to roll the bet back.',
        'Attempt 1: the wallet gave no valid answer: HTTP status 500.',
        'The service was told yes (200).',
        'Attempt 2: the wallet accepted it after 20 ms.',
        'The rollback was delivered: the wallet confirmed it.',
      ]);
      const steps = sequenceOf(one);
      expect(steps.map(({ message }) => message.key).slice(0, 5)).toEqual([
        '1',
        '1.1',
        '1.1.answer',
        '1.answer',
        '2',
      ]);
      expect(Math.max(...steps.map(({ waitedMs }) => waitedMs ?? 0))).toBeLessThan(6_000);
    },
  );

  it("quotes the wallet's own words", () => {
    const refused = attempt({
      result: 'declined',
      status: 400,
      code: 7,
      error: '400 code 7: too poor',
    });
    const answer = { status: 400, body: '{"code":7,"message":"too poor"}' };
    expect(texts(bet({ operations: [operation({ attempts: [refused], answer })] }))).toContain(
      'The wallet refused it after 20 ms: 400 code 7: too poor.',
    );
  });

  it('never says of money what nobody knows (I2)', () => {
    expect(stateOf(bet({ state: 'unknown' })).text).toContain('Nobody knows');
    expect(stateOf(bet({ state: 'settlement_unknown' })).text).toContain('nobody knows');
    expect(stateOf(bet({ state: 'rolling_back' })).text).toContain('has not confirmed it yet');
    expect(stateOf(bet({ state: 'a_newer_state' })).text).toBe('The bet is a newer state.');
  });

  const refused = (name: string, request: string) =>
    operation({
      operation: name,
      request,
      answer: { status: 400, body: '{"code":20}' },
      attempts: [
        attempt({ result: 'declined', status: 400, code: 20, error: '400 code 20: late' }),
      ],
    });
  const won = '{"amount":40.00,"resultType":"won"}';

  it('tells a cashout from a win', () => {
    const cashout = operation({
      operation: 'settle',
      request: '{"amount":5,"resultType":"cashout"}',
    });
    const result = operation({ operation: 'settle', request: won });
    expect(texts(bet({ operations: [cashout, result] }))).toEqual(
      expect.arrayContaining([
        'The service sent the result: 5 USD (cashout).',
        'The service sent the result: 40.00 USD (won).',
      ]),
    );
  });

  it('says of a refused win that nothing was paid, and whom to ask: nobody sends it again', () => {
    const one = bet({ operations: [operation(), refused('settle', won)] });
    expect(stateOf(one)).toEqual({
      tone: 'warn',
      text: 'The wallet holds the stake of 12.10 USD, and has refused the result: it has paid nothing.',
    });
    expect(nextSteps(one)).toMatchObject([
      { kind: 'ask', why: expect.stringContaining('ask the service to send it anew') },
    ]);
  });

  it('does not wait for somebody to ask about a refused cashout: the result still comes', () => {
    const one = bet({
      operations: [operation(), refused('settle', '{"amount":5,"resultType":"cashout"}')],
    });
    expect(stateOf(one).text).toContain('It refused the cashout; there is no result yet.');
    expect(nextSteps(one)).toMatchObject([{ kind: 'nothing' }]);
  });

  it.each([
    ['settle', won],
    ['unsettle', '{"amount":40.00}'],
  ])('says of a settled bet that its wallet refused a later %s', (name, request) => {
    const settlement = { state: 'settled', amount: '10', resultType: 'won' };
    const first = operation({ operation: 'settle', request: '{"amount":10,"resultType":"won"}' });
    const one = bet({
      state: 'settled',
      settlement,
      operations: [operation(), first, refused(name, request)],
    });
    expect(stateOf(one).text).toContain('It refused what the service sent about the result');
    expect(nextSteps(one)).toMatchObject([{ kind: 'ask' }]);
  });

  it('never says that nothing has to be done about a result of unknown outcome (I2)', () => {
    const step = { kind: 'resolveResult', why: expect.stringContaining('ask the operator') };
    expect(nextSteps(bet({ state: 'settlement_unknown' }))).toEqual([step]);
  });

  it('offers no end of a doubt by hand while an answer may still end it', () => {
    const doubtful = { state: 'settlement_unknown', inFlight: 'settle' } as const;
    expect(nextSteps(bet(doubtful))).toMatchObject([{ kind: 'nothing' }]);
    const delivery = { id: '7', state: 'pending' };
    const waiting = bet({ ...doubtful, inFlight: null, operations: [operation({ delivery })] });
    expect(nextSteps(waiting)).toMatchObject([{ kind: 'retry' }]);
  });

  it('never says that a wallet paid what only a person has said (I2)', () => {
    const lost = operation({ operation: 'settle', delivery: { id: '7', state: 'resolved' } });
    const settlement = { state: 'settled', amount: '20', resultType: 'won' };
    const resolved = { state: 'settled', settlement, operations: [operation(), lost] };
    expect(stateOf(bet(resolved)).text).toMatch(/by hand \(won\): 20 .*no wallet has confirmed/);
    const later = operation({ operation: 'settle' });
    const paid = { ...resolved, operations: [operation(), lost, later] };
    expect(stateOf(bet(paid)).text).toContain('the wallet paid 20');
    const unsettled = { state: 'unsettled', amount: null, resultType: null };
    const open = { ...resolved, state: 'accepted', settlement: unsettled };
    expect(stateOf(bet(open)).text).toContain('no wallet has confirmed it');
  });

  it('says of a rollback that a person has closed that nothing is waited for any more', () => {
    const rollback = (state: string) =>
      operation({ operation: 'rollback', delivery: { id: '7', state } });
    const closed = bet({ state: 'rolling_back', operations: [operation(), rollback('resolved')] });
    expect(stateOf(closed)).toEqual({
      tone: 'quiet',
      text: 'The bet is rolled back for the service. The wallet has never confirmed it: a person has closed the rollback by hand.',
    });
    expect(nextSteps(closed)).toMatchObject([{ kind: 'nothing' }]);
    const open = bet({ state: 'rolling_back', operations: [operation(), rollback('dead')] });
    expect(stateOf(open).text).toContain('has not confirmed it yet');
  });

  it('blames no later operation for an update that its wallet does not take', () => {
    const ended = { delivery: { id: '7', state: 'superseded' }, attempts: [] };
    const told = (name: string) =>
      texts(bet({ operations: [operation({ operation: name, ...ended })] })).at(-1);
    expect(told('update')).toBe(
      'A later operation has made the update void, or its wallet takes none.',
    );
    expect(told('settle')).toMatch(/void, or the wallet held this result already\.$/);
  });

  it('says of a connection that failed only that no answer came: it may have broken afterwards (I2)', () => {
    const broken = attempt({
      result: 'connection',
      status: null,
      error: 'connection reset (read ECONNRESET)',
    });
    expect(texts(bet({ operations: [operation({ attempts: [broken] })] }))).toContain(
      'The wallet gave no answer: connection reset (read ECONNRESET).',
    );
  });

  it('says that the gateway itself rolled a bet back, and shows no request of the service', () => {
    const own = operation({ operation: 'rollback', askedBy: 'gateway', answer: null });
    const one = bet({ operations: [own] });
    expect(texts(one)).toEqual([
      'The gateway itself began a rollback, because the service had sent none.',
      'The wallet accepted it after 20 ms.',
    ]);
    const went = sequenceOf(one).map(({ message: { from, to } }) => `${from} ${to}`);
    expect(went).toEqual(['gateway wallet', 'wallet gateway']);
    expect(sequenceOf(one)[0]?.message.about).toMatch(/^What the gateway made by itself; /);
  });

  it('knows the player as the service does, and to a wallet as the operator does', () => {
    const [asked, sent] = sequenceOf(bet({ userId: '7f0c', operations: [operation()] }));
    expect(asked?.message.player).toBeUndefined();
    expect(sent?.message.player).toEqual({ kept: '7f0c', sent: 'anna' });
  });

  it('shows its messages with the waits between them', () => {
    const later = operation({ operation: 'settle', receivedAt: at(9), attempts: [] });
    const steps = sequenceOf(bet({ operations: [operation(), later] }));
    expect(steps.map(({ message }) => `${message.from} ${message.to} ${message.label}`)).toEqual([
      'service gateway place',
      'gateway wallet place',
      'wallet gateway 200 after 20 ms',
      'gateway service 200',
      'service gateway settle',
      'gateway service 200',
    ]);
    expect(steps.map(({ waitedMs }) => waitedMs)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      8_980,
      undefined,
    ]);
  });
});

describe('what may be done now', () => {
  it.each([
    ['settle', "Look into the wallet's own books first"],
    ['unsettle', "Look into the wallet's own books first"],
    ['rollback', 'Retry it once the wallet works again'],
    ['update', 'Retry it once the wallet works again'],
  ])('about a dead %s begins with what cannot pay twice (I5)', (name, first) => {
    const dead = operation({ operation: name, delivery: { id: '7', state: 'dead' } });
    const [step] = nextSteps(bet({ operations: [dead] }));
    expect(step?.why).toMatch(`The ${name} is dead. ${first}`);
  });

  const withDelivery = (state: string) =>
    nextSteps(bet({ operations: [operation({ delivery: { id: '7', state } })] })).map(
      ({ kind }) => kind,
    );

  it.each([
    ['dead', 'retryOrResolve'],
    ['pending', 'retry'],
    ['held', 'retry'],
    ['delivered', 'nothing'],
    ['resolved', 'nothing'],
  ])('about a delivery that is %s: %s', (state, kind) => {
    expect(withDelivery(state)).toEqual([kind]);
  });

  it('says what a held one waits for, and not that nothing has to be done', () => {
    const held = operation({ delivery: { id: '7', state: 'held' } });
    const [step] = nextSteps(bet({ operations: [held] }));
    expect(step?.why).toContain('in the books of another wallet and has to be released');
    expect(step?.why).not.toContain('nothing has to be done');
  });

  it('names the log for a result that was never sent, which no story has', () => {
    expect(nextSteps(bet())[0]?.why).toContain('the log (callback.handled with this bet) says');
  });

  it('says why there is nothing', () => {
    const [step] = nextSteps(bet({ state: 'unknown' }));
    expect(step?.why).toContain('rolls the bet back');
  });
});
