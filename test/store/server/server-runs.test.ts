import { expect, it } from 'vitest';
import { ServerRuns } from '../../../src/store/server/server-runs.ts';

const OLD = { startedAt: '100', isStandby: false };
const NEW = { startedAt: '50', isStandby: false };

function connectedTo(runs: ServerRuns, server: typeof OLD): object {
  const connection = {};
  runs.found(connection, server);
  return connection;
}

it('leaves the connections to one server once another has been found, whichever was started later', () => {
  const runs = new ServerRuns();
  const old = connectedTo(runs, OLD);
  expect(runs.isLeft(old)).toBe(false);
  const now = connectedTo(runs, NEW);
  expect([runs.isLeft(old), runs.isLeft(now)]).toEqual([true, false]);
  // Nor is it outdated for ever.
  expect([runs.isLeft(connectedTo(runs, OLD)), runs.isLeft(now)]).toEqual([false, true]);
});

it('leaves none to a standby that takes writes now', () => {
  const runs = new ServerRuns();
  connectedTo(runs, OLD);
  const early = connectedTo(runs, { ...NEW, isStandby: true });
  connectedTo(runs, NEW);
  expect(runs.isLeft(early)).toBe(false);
});

it('leaves none for a standby, and uses that, where the address leads to it', () => {
  const runs = new ServerRuns();
  const old = connectedTo(runs, OLD);
  const standby = connectedTo(runs, { ...NEW, isStandby: true });
  expect([runs.isLeft(old), runs.isLeft(standby)]).toEqual([false, false]);
});
