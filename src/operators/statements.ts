import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { digestHeader, wantsCsv } from '../books/statement-answer.ts';
import { statementCsv } from '../books/statement-digest.ts';
import { isDay } from '../domain/calendar.ts';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import type { Statements } from '../store/books/statements.ts';
import { readFields } from './fields.ts';
import { type OperatorGate, sendAnswer } from './request.ts';
import { signedMembers } from './signed-members.ts';

export const statementFields = z.strictObject({
  ...signedMembers,
  day: z
    .string('must be a string')
    .refine(isDay, 'must be a day such as 2026-11-20')
    .describe('A closed day, as 2026-11-20')
    .meta({ format: 'date' }),
});

/** An operator's own statement of a closed day, as JSON or as the CSV that the digest covers. */
export async function sendStatement(
  {
    gate,
    statements,
  }: { readonly gate: OperatorGate; readonly statements: Pick<Statements, 'find' | 'pages'> },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const admitted = await gate.admit(request);
  if (!('operator' in admitted)) {
    sendAnswer(reply, admitted);
    return reply;
  }
  const read = readFields(statementFields, admitted.document);
  if (!('fields' in read)) {
    sendAnswer(reply, read);
    return reply;
  }
  // The operator is the caller's own: a request cannot name another one (I8).
  const { id } = admitted.operator;
  const { day } = read.fields;
  const statement = await statements.find(id, day);
  if (statement === undefined) {
    sendAnswer(reply, failure(CODES.notFound, 'No such statement', 404));
    return reply;
  }
  const isCsv = wantsCsv(request.headers.accept);
  const limited = isCsv
    ? gate.limits.charge(admitted.operator, 'lines', statement.movements)
    : undefined;
  if (limited !== undefined) {
    sendAnswer(reply, limited);
    return reply;
  }
  reply.header('digest', digestHeader(statement)).header('vary', 'accept');
  if (isCsv) {
    reply.header('content-type', 'text/csv; charset=utf-8');
    return reply.send(Readable.from(statementCsv(statements, id, day)));
  }
  sendAnswer(reply, { status: 200, body: JSON.stringify(statement) });
  return reply;
}
