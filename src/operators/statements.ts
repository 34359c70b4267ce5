import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { digestHeader, wantsCsv } from '../books/statement-answer.ts';
import { statementCsv } from '../books/statement-digest.ts';
import type { OperatorConfig } from '../config/schema/schema.ts';
import { isDay } from '../domain/calendar.ts';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import type { DayStatement, Statements } from '../store/books/statements.ts';
import { readFields } from './fields.ts';
import type { LargeAnswers } from './large-answers.ts';
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

interface OwnStatements {
  readonly gate: Pick<OperatorGate, 'admit' | 'limits'>;
  readonly statements: Pick<Statements, 'find' | 'pages'>;
  readonly largeAnswers: LargeAnswers;
}

/** An operator's own statement of a closed day, as JSON or as the CSV that the digest covers. */
export async function sendStatement(
  own: OwnStatements,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const admitted = await own.gate.admit(request);
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
  const { operator } = admitted;
  const { day } = read.fields;
  if (wantsCsv(request.headers.accept)) return await sendCsv(own, reply, operator, day);
  await own.largeAnswers.send(operator, reply, () => sendJson(own, reply, operator, day));
  return reply;
}

async function sendJson(
  { gate, statements }: OwnStatements,
  reply: FastifyReply,
  operator: OperatorConfig,
  day: string,
): Promise<void> {
  const limited = gate.limits.charge(operator, 'lines', 1);
  const statement = limited ?? (await statements.find(operator.id, day)) ?? NONE;
  if ('status' in statement) {
    sendAnswer(reply, statement);
    return;
  }
  gate.limits.owe(operator, 'lines', statement.open.length);
  describe(reply, statement);
  sendAnswer(reply, { status: 200, body: JSON.stringify(statement) });
}

async function sendCsv(
  { gate, statements, largeAnswers }: OwnStatements,
  reply: FastifyReply,
  operator: OperatorConfig,
  day: string,
): Promise<FastifyReply> {
  const found = await largeAnswers.read(operator, () => statements.find(operator.id, day));
  if (found === undefined) {
    sendAnswer(reply, NONE);
    return reply;
  }
  const lines = found.movements + found.open.length;
  const limited = gate.limits.charge(operator, 'lines', lines);
  if (limited !== undefined) {
    sendAnswer(reply, limited);
    return reply;
  }
  describe(reply, found).header('content-type', 'text/csv; charset=utf-8');
  return reply.send(Readable.from(statementCsv(statements, operator.id, day)));
}

const NONE = failure(CODES.notFound, 'No such statement', 404);

function describe(reply: FastifyReply, statement: DayStatement): FastifyReply {
  return reply.header('digest', digestHeader(statement)).header('vary', 'accept');
}
