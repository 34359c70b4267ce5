import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { digestHeader, wantsCsv } from '../books/statement-answer.ts';
import { statementCsv } from '../books/statement-digest.ts';
import { storableText } from '../lib/storable-text.ts';
import { type BooksDays, DAY_ORDERS } from '../store/books/days.ts';
import type { Statements } from '../store/books/statements.ts';
import { json, notFoundAnswer, readInTurn, send, sendPieces, serve } from './answers.ts';
import { checkedPath, checkedQuery, dayField, invalidField, wordAmong } from './input.ts';

const daysQuery = z.strictObject({
  operator: storableText(64).optional(),
  currency: storableText(64).optional(),
  from: dayField.optional(),
  to: dayField.optional(),
  order: wordAmong(DAY_ORDERS).optional(),
  cursor: storableText(1_000).optional(),
});

const statementPath = z.object({ operator: storableText(64), day: dayField });

export interface BooksDependencies {
  readonly booksDays: Pick<BooksDays, 'list'>;
  readonly statements: Pick<Statements, 'find' | 'pages'>;
}

/** The days and the closed statements of every operator. */
export function booksRoutes(
  app: FastifyInstance,
  { booksDays, statements }: BooksDependencies,
): void {
  serve(app, 'GET', '/books/days', 'read', async (request) => {
    const query = checkedQuery(daysQuery, request);
    if (!('fields' in query)) return query;
    const { from, to } = query.fields;
    // An empty list would look like days without bets.
    if (from !== undefined && to !== undefined && from > to) {
      return invalidField('to', 'must not be before from');
    }
    const page = await booksDays.list(query.fields);
    return page === undefined
      ? invalidField('cursor', 'must be the nextCursor of the previous page')
      : json(page);
  });

  app.get(
    '/books/statements/:operator/:day',
    { config: { right: 'read' } },
    async (request, reply) => {
      const path = checkedPath(statementPath, request);
      if (!('fields' in path)) {
        send(reply, path);
        return reply;
      }
      const { operator, day: asked } = path.fields;
      const statement = await readInTurn(request, () => statements.find(operator, asked));
      if (statement === undefined) {
        send(
          reply,
          notFoundAnswer('No such statement: the day is open, or the operator had no bets by then'),
        );
        return reply;
      }
      reply.header('digest', digestHeader(statement)).header('vary', 'accept');
      if (!wantsCsv(request.headers.accept)) {
        send(reply, json(statement));
        return reply;
      }
      reply.header('content-type', 'text/csv; charset=utf-8').header('cache-control', 'no-store');
      return sendPieces(request, reply, () => statementCsv(statements, operator, asked));
    },
  );
}
