import type { FastifyInstance, FastifyReply } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import { send } from './answers.ts';

/** While the listener closes, only health is answered. Requires `return503OnClosing: false`. */
export function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
    if (!isClosing || request.url.startsWith('/health/')) return undefined;
    send(reply, failure(CODES.system, 'This process is ending: nothing was done', 503));
    return reply;
  });
}
