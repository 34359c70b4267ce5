import { expect, it } from 'vitest';
import { SilentConnections } from '../../../src/store/server/silent-connections.ts';

function scene() {
  let nowMs = 5_000;
  const subject = new SilentConnections<object>(() => nowMs);
  const connection = {};
  subject.answered(connection);
  return { subject, connection, pass: (ms: number) => (nowMs += ms) };
}

it('uses an idle connection while everything is answered soon, however old its last answer is', () => {
  const { subject, connection, pass } = scene();
  pass(3_600_000);
  const ended = subject.ask();
  pass(999);
  expect(subject.isDoubtful(connection)).toBe(false);
  ended();
  pass(10_000);
  expect(subject.isDoubtful(connection)).toBe(false);
});

it('doubts what was idle when a statement began that is not answered', () => {
  const { subject, connection, pass } = scene();
  pass(10);
  subject.ask();
  pass(1_000);
  expect(subject.isDoubtful(connection)).toBe(true);
});

it('doubts it still when that statement was given up', () => {
  const { subject, connection, pass } = scene();
  pass(10);
  const ended = subject.ask();
  pass(7_000);
  expect(subject.isDoubtful({})).toBe(true);
  ended();
  pass(60_000);
  expect(subject.isDoubtful(connection)).toBe(true);
});

it('trusts what the server has answered on since, new or old', () => {
  const { subject, connection, pass } = scene();
  pass(10);
  subject.ask();
  pass(500);
  subject.answered(connection);
  pass(2_000);
  expect(subject.isDoubtful(connection)).toBe(false);
});
