import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { WorkerMember } from '../../src/process/worker-member.ts';
import { ALIVE } from '../../src/process/worker-talk.ts';
import { partly } from '../support/partly.ts';

it('a worker process that says nothing for five seconds does not count as working until it does (I7)', () => {
  let nowMs = 1_000;
  const clock = vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const worker = new EventEmitter();
  const member = new WorkerMember(partly<Worker>(worker), pino({ level: 'silent' }));
  expect(member.takesCallbacks).toBe(false);
  member.noteListening();
  worker.emit('message', ALIVE);
  nowMs += 4_900;
  expect(member.takesCallbacks).toBe(true);
  nowMs += 200;
  expect(member.takesCallbacks).toBe(false);
  worker.emit('message', ALIVE);
  expect(member.takesCallbacks).toBe(true);
});
