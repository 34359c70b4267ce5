import { objectText, placeBody } from '../../protocol/callback-bodies.ts';
import { type Case, group } from '../case.ts';

const RULE = 'docs/protocol.md, Bet callback success response';

export const shapeCases: readonly Case[] = group('shape', { rule: RULE, money: false }, [
  {
    id: 'shape-journey',
    title: 'A bet goes through its whole life',
    rule: 'docs/protocol.md, Bet lifecycle',
    expected: 'place, update, settle, unsettle, settle again and rollback of another are accepted',
    run: async (trial) => {
      const { skipUpdates } = trial.context.caller.line.adapter.callerDialect;
      const slip = await trial.placed();
      if (!skipUpdates) await trial.update(slip, '1.7');
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
      trial.accepts(await trial.lost(slip));
      trial.confirms(await trial.rollback(await trial.placed()));
      const amount = `${'9'.repeat(12)}`;
      const refused = await trial.place(trial.slip({ amount }));
      refused.wanted = { kind: 'refusal', codes: [] };
    },
  },
  {
    id: 'shape-unknown-fields',
    title: 'Members that the wallet does not know are ignored',
    rule: 'docs/protocol.md, Bet transaction (metadata may gain new fields)',
    expected: '200 to a place with new members',
    run: async (trial) => {
      const more = { newMember: '{"any":["thing",1,null]}', anotherMember: 'true' };
      trial.accepts(await trial.place(trial.slip(), { more }));
    },
  },
  {
    id: 'shape-express',
    title: 'An express bet of 20 outcomes is accepted',
    rule: 'docs/protocol.md, Bet transaction (ticketType, metadata)',
    expected: '200 to a place with ticketType express and 20 entries of metadata',
    run: async (trial) => {
      const outcomes = Array.from({ length: 20 }, (_, at) => outcome(at));
      const more = { ticketType: '"express"', metadata: `[${outcomes.join(',')}]` };
      trial.accepts(await trial.place(trial.slip(), { more }));
    },
  },
  {
    id: 'shape-turbogames',
    title: 'A bet on turbogames is accepted',
    rule: 'docs/protocol.md, Bet transaction (gameType)',
    expected: '200 to a place with gameType turbogames',
    run: async (trial) => {
      const more = { gameType: '"turbogames"' };
      trial.accepts(await trial.place(trial.slip(), { more }));
    },
  },
  {
    id: 'shape-not-json',
    title: 'A body that is not JSON is refused',
    rule: 'docs/protocol.md, Error codes (5, validation)',
    expected: '400 with code 5',
    run: async (trial) => {
      const sighting = await trial.place(trial.slip(), { body: '{"transactionId":' });
      if (sighting.meaning.kind === 'accepted') trial.fail('a body that is not JSON was accepted');
      else if (sighting.meaning.kind === 'none') trial.warn('a body that is not JSON breaks it');
    },
  },
  {
    id: 'shape-missing-id',
    title: 'A place without a transactionId is refused',
    rule: 'docs/protocol.md, Error codes (5, validation)',
    expected: '400 with code 5, nothing debited',
    money: true,
    run: async (trial) => {
      const sighting = await trial.place(trial.slip(), { more: { transactionId: undefined } });
      if (sighting.meaning.kind === 'accepted') {
        trial.fail('a place without a transactionId was accepted');
      } else if (sighting.meaning.kind === 'none') trial.warn('a missing transactionId breaks it');
      await trial.movedNothing('a place without a transactionId');
    },
  },
]);

function outcome(at: number): string {
  const body: { readonly metadata?: readonly object[] } = JSON.parse(placeBody(EXAMPLE));
  const [first] = body.metadata ?? [];
  const raw = Object.entries({ ...first, eventId: `certify-${at}`, stage: (at % 2) + 1 });
  return objectText(Object.fromEntries(raw.map(([name, value]) => [name, JSON.stringify(value)])));
}

const EXAMPLE = {
  transactionId: 'example',
  token: 'example',
  userId: 'example',
  currency: 'USD',
  amount: '1',
  coefficient: '1.5',
  bonusId: null,
  bonusTemplateId: null,
};
