import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PATIENT_MS } from '../../support/timing.ts';
import { ADMIN_TOKEN, ask, startAdmin, type TestAdmin } from '../support/admin.ts';

/** The limits on strangers at the internal listener, which shares its process with callbacks (I7). */

let admin: TestAdmin;
let port: number;
beforeAll(async () => {
  admin = await startAdmin();
  port = Number(new URL(admin.baseUrl).port);
});
afterAll(() => admin.close());

const CHUNKED = 'host: x\r\ntransfer-encoding: chunked\r\n\r\n';
const CRUMBS = '1\r\nx\r\n'.repeat(200_000);

/** @returns how many bytes the listener had read when it closed the connection, and its answer */
async function say(text: string): Promise<{ heard: string; sent: number }> {
  const socket = connect(port, '127.0.0.1').on('error', () => socket.destroy());
  let heard = '';
  socket.setEncoding('latin1').on('data', (some) => {
    heard += some;
  });
  socket.write(text);
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { heard, sent: socket.bytesWritten };
}

const answersIn = (heard: string) => heard.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;

describe('a stranger', () => {
  it('is broken off whose body comes in crumbs (I7)', async () => {
    const { heard } = await say(`POST /nowhere HTTP/1.1\r\n${CHUNKED}${CRUMBS}`);
    expect(answersIn(heard)).toBe(0);
  });

  it('is not listened to for long once it is refused (I7)', async () => {
    await say(`POST /admin/reload HTTP/1.1\r\n${CHUNKED}${CRUMBS}`);
    // Slow requests are cut off after 5 s; this one is as fast as possible.
  });

  it('is broken off who waits for no answer (I7)', async () => {
    const { heard } = await say('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000));
    expect(answersIn(heard)).toBeLessThanOrEqual(8);
  });

  it('keeps nobody out by idle connections (I7)', async () => {
    const idle = Array.from({ length: 520 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      return socket;
    });
    await vi.waitFor(
      () => expect(idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(20),
      PATIENT_MS,
    );
    expect((await ask(`${admin.baseUrl}/health/live`)).status).toBe(200);
    for (const socket of idle) socket.destroy();
  });
});

describe('somebody known', () => {
  it('may send a body in as many pieces as it likes', async () => {
    const answer = await new Promise<{ status: number | undefined; text: string }>(
      (resolve, reject) => {
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'transfer-encoding': 'chunked' };
        const call = request(`${admin.baseUrl}/admin/reload`, { method: 'POST', headers });
        call.on('error', reject).on('response', (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (some) => {
            text += some;
          });
          response.once('end', () => resolve({ status: response.statusCode, text }));
        });
        for (const letter of JSON.stringify({ reason: 'x'.repeat(1_500) })) call.write(letter);
        call.end();
      },
    );
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('"result":"ok"') });
  });
});

describe('scrapes', () => {
  it('let everything else in between, however many there are (I7)', async () => {
    const ordinary = await ask(`${admin.baseUrl}/metrics`);
    const scrapes = Array.from({ length: 200 }, () => ask(`${admin.baseUrl}/metrics`));
    let done = 0;
    for (const scrape of scrapes) void scrape.then(() => (done += 1));
    expect((await ask(`${admin.baseUrl}/health/live`)).status).toBe(200);
    expect(done).toBeLessThan(200);
    for (const { status, text } of await Promise.all(scrapes)) {
      expect(status).toBe(200);
      expect(text.length).toBeGreaterThan(ordinary.text.length / 2);
    }
  });
});
