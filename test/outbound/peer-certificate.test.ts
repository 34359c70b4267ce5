import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateIn, peerCertificate } from '../../src/outbound/peer-certificate.ts';
import { AUTHORITY, CLIENT, SERVER } from '../wallets/support/private-authority.ts';

let server: Server;
let asked = 0;
let baseUrl = '';
beforeAll(async () => {
  server = createServer({ ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true });
  server.on('request', () => {
    asked += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `https://localhost:${(server.address() as AddressInfo).port}/sportsbook`;
});
afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)));

const peer = () => ({ baseUrl, allowPrivate: true, timeoutMs: 3_000 });
const tls = { ca: AUTHORITY, ...CLIENT };

describe('the certificate of a wallet', () => {
  it('is the one that it shows on the way that calls take, and nothing is asked for it', async () => {
    const shown = await peerCertificate({ ...peer(), tls });
    expect(shown).toEqual(certificateIn(SERVER.cert));
    expect(shown?.validTo).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(shown?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(asked).toBe(0);
  });

  it('is absent if the other end is not trusted, not there, private or without TLS', async () => {
    for (const other of [
      peer(),
      { ...peer(), tls, baseUrl: 'https://127.0.0.1:1' },
      { ...peer(), tls, allowPrivate: false },
      { ...peer(), tls, baseUrl: baseUrl.replace('https', 'http') },
    ]) {
      expect(await peerCertificate(other)).toBeNull();
    }
  });

  it('is that of the site whose Host header calls carry: there may be several behind one address', async () => {
    const byAddress = { ...peer(), tls, baseUrl: baseUrl.replace('localhost', '127.0.0.1') };
    expect(await peerCertificate({ ...byAddress, site: 'localhost:8443' })).not.toBeNull();
    // A call is not sent there either.
    expect(await peerCertificate({ ...byAddress, site: 'elsewhere.example' })).toBeNull();
    // An address is no site: calls then use the name in `baseUrl`.
    for (const site of ['10.9.8.7', '10.9.8.7:8443', '[fd00::7]:8443']) {
      expect(await peerCertificate({ ...peer(), tls, site })).not.toBeNull();
    }
  });

  it('is not made up from nothing', () => {
    expect(
      certificateIn('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
    ).toBeNull();
  });
});
