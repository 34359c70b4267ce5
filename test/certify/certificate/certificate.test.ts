import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../../src/certify/certificate/certificate.ts';
import { isIntact } from '../../../src/certify/certificate/digest.ts';
import { htmlReport } from '../../../src/certify/report/html-report.ts';
import { partly } from '../../support/partly.ts';
import { walletSettings } from '../../wallets/support/calls.ts';
import { certification, PLAYER, SECRET, sandbox, second } from '../support/certification.ts';
import { debitsDuplicates, shiftsDuplicates } from '../support/flawed-wallets.ts';

/** A wallet that repeats whatever it is sent, and says too much about its player. */
const talkative = once(async (): Promise<Certificate> => {
  const wallet = await sandbox(
    {
      rewrite: (answer, call) => {
        const told = 'token' in call ? call.token : '';
        const message = `<script>alert('${told} ${SECRET}')</script>`;
        return answer.status === 400
          ? {
              ...answer,
              body: answer.body.replace(
                /"message":"[^"]*"/,
                () => `"message":${JSON.stringify(message)}`,
              ),
            }
          : answer;
      },
    },
    { customFields: { email: 'ann@example.org', phone: '447911123456' } },
  );
  const only = ['signatures', 'profile', 'place'] as const;
  return await certification(wallet, { other: second(wallet), verbose: true, only });
});

const good = once(async () => certification(await sandbox(), { only: ['place', 'latency'] }));

/** One run serves several tests. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

describe('a certificate', () => {
  it('holds no token, no secret and nothing of the person', async () => {
    const certificate = await talkative();
    for (const text of [JSON.stringify(certificate), htmlReport(certificate)]) {
      for (const secret of [
        PLAYER.token,
        'bob-usd-token',
        SECRET,
        'ann@example.org',
        '447911123456',
      ]) {
        expect(text).not.toContain(secret);
      }
      // A signature: header, nothing, and the MAC of a body.
      expect(text).not.toMatch(/eyJ[\w-]+\.\.[\w-]{40}/);
      expect(text).toContain('***');
    }
  });

  it('holds no token and no key of a header, however the wallet spells it', async () => {
    const token = 'ann/usd+token/"=';
    const apiKey = 'key/of the+aggregator';
    const spelled = (text: string) => [
      JSON.stringify(text).slice(1, -1),
      JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
      encodeURIComponent(text),
    ];
    const secrets = [...spelled(token), ...spelled(apiKey)];
    const wallet = await sandbox(
      {
        rewrite: (answer) =>
          answer.status === 400
            ? { ...answer, body: `{"code":3,"message":"${secrets.join(' ')}"}` }
            : answer,
      },
      { tokens: { [token]: 'USD' } },
    );
    const certificate = await certification(wallet, {
      player: { ...PLAYER, token },
      dialect: { headers: { 'x-api-key': apiKey } },
      only: ['signatures', 'profile'],
    });
    const texts = [certificate, ...certificate.cases.map(({ script }) => script)].map((one) =>
      JSON.stringify(one),
    );
    // Also in JSON form, as in texts of the certificate.
    for (const secret of secrets.flatMap((one) => [one, JSON.stringify(one).slice(1, -1)])) {
      for (const text of [...texts, htmlReport(certificate)]) expect(text).not.toContain(secret);
    }
    expect(texts.join()).toContain('***');
  });

  it('contains no secret while secrets are rotated, and leaves short words alone', async () => {
    const old = 'the-secret-of-last-year';
    const message = `not ${old}, live`;
    const wallet = await sandbox({
      rewrite: (answer) =>
        answer.status === 400 ? { ...answer, body: `{"code":3,"message":"${message}"}` } : answer,
    });
    const { baseUrl } = wallet;
    const dialect = { headers: { 'x-mode': 'live' } };
    const { cases } = await certification(wallet, {
      settings: walletSettings({ baseUrl, secrets: [SECRET, old], dialect }),
      only: ['profile'],
    });
    const seen = cases.flatMap((one) => one.seen).map(({ answer }) => answer);
    // Anything that short is no key, and occurs in many texts by chance.
    expect(seen).toContain('{"code":3,"message":"not ***, live"}');
    expect(JSON.stringify(cases)).not.toContain(old);
  });

  it('names no credentials of an address, and no value of a header', async () => {
    const wallet = await sandbox();
    const address = new URL(wallet.baseUrl);
    [address.username, address.password] = ['aggregator', 'not-to-be-told'];
    const certificate = await certification(partly({ baseUrl: address.href }), {
      dialect: { headers: { 'x-api-key': 'hush-hush' } },
      only: ['profile'],
    });
    expect(certificate.dialect).toEqual({ headers: { 'x-api-key': '***' } });
    expect(certificate.wallet).toBe(wallet.baseUrl);
    expect(JSON.stringify(certificate)).not.toMatch(/hush-hush|not-to-be-told/);
    expect(wallet.requests[0]?.headers['x-api-key']).toBe('hush-hush');
  });

  it('has for each case the rule, what was expected, what was seen and how long it took', async () => {
    const { cases } = await good();
    expect(cases.find(({ id }) => id === 'place-not-enough')).toEqual({
      id: 'place-not-enough',
      group: 'place',
      title: 'A place above the balance is declined',
      rule: 'A place above the balance is refused with code 7.',
      expected: '400 with code 7, nothing debited',
      verdict: 'passed',
      meaning: null,
      reasons: [],
      seen: expect.arrayContaining([
        {
          operation: 'place',
          status: 400,
          answer: '{"code":7,"message":"Not enough money"}',
          ms: expect.any(Number),
        },
      ]),
      seenLeftOut: 0,
      calls: [],
      script: null,
      balance: { before: '1000', after: '1000' },
      durationMs: expect.any(Number),
    });
  });

  it('counts the calls that it does not show', async () => {
    const { cases } = await good();
    const busy = cases.find(({ id }) => id === 'latency-place-50');
    expect(busy?.seen.length).toBe(12);
    expect(busy?.seenLeftOut).toBeGreaterThan(30);
  });
});

describe('the report', () => {
  it('escapes what comes from the wallet, and loads and runs nothing', async () => {
    const report = htmlReport(await talkative());
    expect(report).not.toMatch(/<script/i);
    expect(report).toContain('&lt;script&gt;');
    expect(report).not.toMatch(/\b(?:src|href)="(?!#)/);
    expect(report).not.toMatch(/url\(|@import|\bon\w+="/);
    expect(report).toContain("default-src 'none'");
  });

  it('shows every case, opens what needs a look, and spells the dialect', async () => {
    const certificate = await certification(await sandbox(shiftsDuplicates(9)), {
      only: ['place'],
    });
    const report = htmlReport(certificate);
    for (const { id } of certificate.cases) expect(report).toContain(`<details id="${id}"`);
    expect(report).toContain('<section id="finding-place-duplicate-answer" class="finding">');
    expect(report).not.toContain('id="finding-place-enough"');
    expect(report).toContain('<p class="result passed"><strong>Fit: ');
    expect(report).toContain('Findings, worst first');
    expect(report).toContain('    mapCodes:\n      place:\n        &quot;9&quot;: 8');
    expect(report).toContain('href="#place-duplicate-answer"');
  });

  it('shows all calls of every case where somebody wants them, and links to nothing else', async () => {
    const wallet = await sandbox(shiftsDuplicates(9));
    const report = htmlReport(await certification(wallet, { only: ['place'], verbose: true }));
    const ids = new Set(Array.from(report.matchAll(/\bid="([^"]+)"/g), ([, id]) => id));
    const links = Array.from(report.matchAll(/href="#([^"]+)"/g), ([, id]) => id);
    expect(links).toContain('finding-place-duplicate-answer');
    expect(links.filter((link) => !ids.has(link))).toEqual([]);
    const [, good = ''] = report.split('<details id="place-enough"');
    expect(good.slice(0, good.indexOf('<details id="'))).toContain('The same calls for a shell');
  });

  it('reports the money that is missing', async () => {
    const report = htmlReport(
      await certification(await sandbox(debitsDuplicates), { only: ['place'] }),
    );
    expect(report).toMatch(/9\d\d USD, 1000 before: a difference of -\d+/);
  });
});

describe('the schema of certificate.json', () => {
  it('is the published one, and accepts what is written', async () => {
    const { certificateJsonSchema, certificateSchema } = await import(
      '../../../src/certify/certificate/certificate.ts'
    );
    const published = new URL('../../../docs/certificate.schema.json', import.meta.url);
    expect(readFileSync(published, 'utf8')).toBe(certificateJsonSchema());
    const certificate = await certification(await sandbox(debitsDuplicates), { only: ['place'] });
    const text = JSON.stringify(certificate, undefined, 2);
    expect(certificateSchema.parse(JSON.parse(text))).toEqual(certificate);
    expect(isIntact(JSON.parse(text), certificate.digest)).toBe(true);
    expect(isIntact(JSON.parse(text.replace('alpha', 'beta')), certificate.digest)).toBe(false);
  });
});
