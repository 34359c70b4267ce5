import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { deliveryRoutes } from '../../src/admin/deliveries.ts';
import { PERSON_ROLES } from '../../src/domain/caller.ts';
import type { DeliveryItem } from '../../src/store/deliveries/delivery-item.ts';
import { partly } from '../support/partly.ts';

const items = ['400 code 9: jane is blocked', 'the wallet broke the connection'].map((lastError) =>
  partly<DeliveryItem>({ id: '7', state: 'dead', lastError }),
);

it.each(PERSON_ROLES)(
  'the list of deliveries tells %s no wallet’s words, which may name the player, unless the role may know (I8)',
  async (role) => {
    const app = Fastify();
    app.decorateRequest('caller', undefined);
    app.addHook('onRequest', async (request) => {
      request.caller = { actor: 'bob', role, address: '192.0.2.2' };
    });
    deliveryRoutes(
      app,
      partly({ deliveryAdmin: partly({ list: async () => ({ items, nextCursor: null }) }) }),
    );
    const { payload } = await app.inject({ url: '/deliveries' });
    const told = JSON.parse(payload).items.map(({ lastError }: DeliveryItem) => lastError);
    const knowsPeople = role === 'support' || role === 'admin';
    expect(told).toEqual([
      knowsPeople ? '400 code 9: jane is blocked' : '400 code 9: ***',
      'the wallet broke the connection',
    ]);
    await app.close();
  },
);
