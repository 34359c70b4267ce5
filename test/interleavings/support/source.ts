import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The parts of a gateway's core, from this source or from a copy of it with a bug. */
export type Source = Awaited<ReturnType<typeof loadSource>>;

/** @param folder contains the `src/` to load */
export async function loadSource(folder: string) {
  const load = async (file: string) =>
    await import(/* @vite-ignore */ pathToFileURL(join(folder, 'src', file)).href);
  const store: typeof import('../../../src/store/database.ts') = await load('store/database.ts');
  const clock: typeof import('../../../src/store/server/database-clock.ts') = await load(
    'store/server/database-clock.ts',
  );
  const journal: typeof import('../../../src/store/bets/journal.ts') =
    await load('store/bets/journal.ts');
  const places: typeof import('../../../src/store/bets/place-journal.ts') = await load(
    'store/bets/place-journal.ts',
  );
  const queue: typeof import('../../../src/store/deliveries/queue.ts') = await load(
    'store/deliveries/queue.ts',
  );
  const confirmations: typeof import('../../../src/store/deliveries/confirmations.ts') = await load(
    'store/deliveries/confirmations.ts',
  );
  const sessionStore: typeof import('../../../src/store/sessions/session-store.ts') = await load(
    'store/sessions/session-store.ts',
  );
  const players: typeof import('../../../src/store/sessions/players.ts') = await load(
    'store/sessions/players.ts',
  );
  const sessions: typeof import('../../../src/sessions/sessions.ts') =
    await load('sessions/sessions.ts');
  const sessionCache: typeof import('../../../src/sessions/session-cache.ts') = await load(
    'sessions/session-cache.ts',
  );
  const vault: typeof import('../../../src/sessions/token-vault.ts') =
    await load('sessions/token-vault.ts');
  const accelerator: typeof import('../../../src/redis/accelerator.ts') =
    await load('redis/accelerator.ts');
  const answers: typeof import('../../../src/redis/answer-cache.ts') =
    await load('redis/answer-cache.ts');
  const changes: typeof import('../../../src/engine/bet-changes.ts') =
    await load('engine/bet-changes.ts');
  const permit: typeof import('../../../src/engine/send-permit.ts') =
    await load('engine/send-permit.ts');
  const stored: typeof import('../../../src/engine/stored-message.ts') = await load(
    'engine/stored-message.ts',
  );
  const deadline: typeof import('../../../src/domain/deadline.ts') =
    await load('domain/deadline.ts');
  const errors: typeof import('../../../src/domain/errors.ts') = await load('domain/errors.ts');
  const messages: typeof import('../../../src/protocol/messages.ts') =
    await load('protocol/messages.ts');
  const metrics: typeof import('../../../src/telemetry/metrics.ts') =
    await load('telemetry/metrics.ts');
  const tracing: typeof import('../../../src/telemetry/tracing.ts') =
    await load('telemetry/tracing.ts');
  const callback: typeof import('../../../src/callbacks/bet-callback.ts') = await load(
    'callbacks/bet-callback.ts',
  );
  const placeBet: typeof import('../../../src/callbacks/place-bet.ts') =
    await load('callbacks/place-bet.ts');
  const settle: typeof import('../../../src/callbacks/settle.ts') =
    await load('callbacks/settle.ts');
  const unsettle: typeof import('../../../src/callbacks/unsettle.ts') =
    await load('callbacks/unsettle.ts');
  const rollback: typeof import('../../../src/callbacks/rollback.ts') =
    await load('callbacks/rollback.ts');
  const update: typeof import('../../../src/callbacks/update.ts') =
    await load('callbacks/update.ts');
  const refusedReads: typeof import('../../../src/callbacks/refused-reads.ts') = await load(
    'callbacks/refused-reads.ts',
  );
  const repairedAnswers: typeof import('../../../src/callbacks/repaired-answers.ts') = await load(
    'callbacks/repaired-answers.ts',
  );
  const deliver: typeof import('../../../src/deliveries/deliver.ts') =
    await load('deliveries/deliver.ts');
  const confirm: typeof import('../../../src/deliveries/confirm.ts') =
    await load('deliveries/confirm.ts');
  const deliveryAdmin: typeof import('../../../src/store/deliveries/delivery-admin.ts') =
    await load('store/deliveries/delivery-admin.ts');
  const prisma: typeof import('../../../src/store/schema/prisma.ts') =
    await load('store/schema/prisma.ts');
  const unknownResults: typeof import('../../../src/store/bets/unknown-results.ts') = await load(
    'store/bets/unknown-results.ts',
  );
  const forget: typeof import('../../../src/store/players/forget.ts') =
    await load('store/players/forget.ts');
  const keepBooks: typeof import('../../../src/books/keep-books.ts') =
    await load('books/keep-books.ts');
  const booksJournal: typeof import('../../../src/store/books/books-journal.ts') = await load(
    'store/books/books-journal.ts',
  );
  const resolveResult: typeof import('../../../src/engine/resolve-result.ts') = await load(
    'engine/resolve-result.ts',
  );
  return {
    ...{ ...forget, ...keepBooks, ...booksJournal },
    ...{ ...deliveryAdmin, ...prisma, ...unknownResults, ...resolveResult },
    ...{ ...store, ...clock, ...journal, ...places, ...queue, ...confirmations },
    ...{ ...sessionStore, ...players, ...sessions, ...sessionCache, ...vault },
    ...{ ...accelerator, ...answers, ...changes, ...permit, ...stored, ...deadline, ...errors },
    ...{ ...messages, ...metrics, ...tracing, ...callback, ...placeBet, ...settle, ...unsettle },
    ...{ ...rollback, ...update, ...refusedReads, ...repairedAnswers, ...deliver, ...confirm },
  };
}
