import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './support/deployment.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment();
});
afterAll(() => deployment.close());

/** Two proxies may see two different ends of it, so that its body would be the next request. */
const AMBIGUOUS = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length : 9\r\n\r\nGET / HTTP';

async function saidTo(baseUrl: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(AMBIGUOUS);
  return await text(socket);
}

it.for(['1', '2'])(
  'a Node that is told to read HTTP leniently, for whatever else runs beside, reads callbacks as strictly as ever (I2): WORKERS=%s',
  async (WORKERS) => {
    const NODE_OPTIONS = '--insecure-http-parser';
    const { baseUrl, adminUrl, process } = await deployment.replica({ WORKERS, NODE_OPTIONS });
    for (const url of [baseUrl, adminUrl]) {
      expect(await saidTo(url)).toMatch(/^HTTP\/1\.1 400 .*"The request is not HTTP"\}$/s);
    }
    await process.stop();
  },
);
