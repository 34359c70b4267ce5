import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { betRoutes } from '../../src/admin/bets.ts';
import { PERSON_ROLES } from '../../src/domain/caller.ts';
import type { FoundBet } from '../../src/store/bets/search-statements.ts';
import type { BetTimeline } from '../../src/store/bets/timeline.ts';
import { partly } from '../support/partly.ts';

const whose = { operator: 'alpha', operatorUser: 'jane', userId: 'id-of-jane' };
const FOUND = partly<FoundBet>({ transactionId: 'bet-1', ...whose });
const saying = (message: string) => JSON.stringify({ code: 9, message });
const ATTEMPT = {
  error: '400 code 9: jane is blocked',
  answer: { contentType: 'application/json', body: saying('jane herself'), truncated: false },
};
const OPERATION = {
  attempts: [ATTEMPT],
  answer: { status: 400, body: saying('jane to the service') },
  request: Buffer.from('{"userId":"id-of-jane","nickname":"jane of old"}'),
};
/** Wherever the story of her bet names her. */
const NAMED = ['jane is blocked', 'jane herself', 'jane to the service', 'jane of old'];
const STORY = partly<BetTimeline>({
  ...{ transactionId: 'bet-1', ...whose },
  operations: [partly<BetTimeline['operations'][number]>(OPERATION)],
});

describe('bets', () => {
  it.each(PERSON_ROLES)(
    'tell %s no more of their player than the role may know (I8)',
    async (role) => {
      const looks: string[] = [];
      const app = Fastify();
      app.decorateRequest('caller', undefined);
      app.addHook('onRequest', async (request) => {
        request.caller = { actor: 'bob', role, address: '192.0.2.2' };
      });
      betRoutes(app, {
        bets: { page: async () => ({ items: [FOUND], nextCursor: null }) },
        timelines: { find: async () => STORY },
        audit: { appendView: async (_, { subject }) => void looks.push(subject) },
        resolveResult: async () => ({ kind: 'missing' }),
      });
      const knowsPeople = role === 'support' || role === 'admin';
      for (const url of ['/bets', '/bets/bet-1']) {
        const { statusCode, payload } = await app.inject({ url });
        expect([statusCode, payload.includes('jane')]).toEqual([200, knowsPeople]);
      }
      const { payload: story } = await app.inject({ url: '/bets/bet-1' });
      expect(NAMED.filter((words) => story.includes(words))).toEqual(knowsPeople ? NAMED : []);
      // Filters must not reveal it either.
      for (const url of ['/bets?userId=id-of-jane', '/bets?operator=alpha&operatorUser=jane']) {
        expect((await app.inject({ url })).statusCode).toBe(knowsPeople ? 200 : 403);
      }
      // A person who sees whose bet it is has viewed the player (I12).
      const look = 'player id-of-jane';
      expect(looks).toEqual(knowsPeople ? [look, look] : []);
      await app.close();
    },
  );
});
