import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WalletConnection } from '../../../src/certify/calls/wallet-connection.ts';
import { listenOn } from '../../../tools/simulator/wallet/listener.ts';
import { manualClock, readCall, walletSettings } from '../../wallets/support/calls.ts';

/** A wallet that answers nothing, and breaks all calls when told to. */
async function silentWallet() {
  const sockets = new Set<Socket>();
  const asked: Socket[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => asked.push(socket));
  });
  const port = await listenOn(server, 0);
  onTestFinished(() => void server.close());
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    breakOff: async (calls: number) => {
      await vi.waitUntil(() => asked.length === calls, { timeout: 10_000 });
      for (const socket of asked.splice(0)) socket.destroy();
    },
  };
}

it('gives a wallet up after 20 s of silence, and counts calls at the same time once', async () => {
  const clock = manualClock();
  const { baseUrl, breakOff } = await silentWallet();
  const connection = new WalletConnection({
    settings: walletSettings({ baseUrl }),
    clock,
    signal: new AbortController().signal,
    callMs: 60_000,
  });
  onTestFinished(() => connection.close());
  /** Sends this many concurrent calls, each of which stays unanswered for 7.5 s. */
  const waitFor = async (calls: number) => {
    const sent = Array.from({ length: calls }, () => {
      const call = readCall({ deadline: connection.deadline() });
      return connection.send({ kind: 'read', call });
    });
    clock.advance(7_500);
    await breakOff(calls);
    await Promise.all(sent);
  };
  await waitFor(4);
  expect(connection.isSilent).toBe(false);
  await waitFor(1);
  expect(connection.isSilent).toBe(false);
  await waitFor(1);
  expect(connection.isSilent).toBe(true);
});
