import { afterEach, expect, it, vi } from 'vitest';
import { IssuerUnavailable } from '../../src/people/issuer.ts';
import { person } from './support/person.ts';

const ENTRA = 'https://login.microsoftonline.com';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The stub under Entra ID's name, which the library treats otherwise than any other. */
async function atEntra(path: string, named: string) {
  const { stub, signsIn } = await person({ issuer: `${ENTRA}${path}` });
  const { fetch } = globalThis;
  const redirected = async (input: string | URL | Request, init?: RequestInit) => {
    const asked = String(input instanceof Request ? input.url : input)
      .replace(ENTRA, stub.url)
      .replace(path, '');
    const answer = await fetch(asked, init);
    if (answer.status !== 200) return answer;
    const text = (await answer.text()).replaceAll(`${stub.url}/`, `${ENTRA}/`);
    return new Response(text, { headers: answer.headers });
  };
  vi.stubGlobal('fetch', redirected);
  stub.named = named;
  return { stub, signsIn };
}

it('nobody signs in at an issuer for the people of any company, whose own admins give them roles', async () => {
  const { stub, signsIn } = await atEntra('/common/v2.0', `${ENTRA}/{tenantid}/v2.0`);
  stub.person = { iss: `${ENTRA}/of-strangers/v2.0`, tid: 'of-strangers', roles: ['admin'] };
  await expect(signsIn()).rejects.toBeInstanceOf(IssuerUnavailable);
  await expect(signsIn()).rejects.toThrow('people of any tenant');
});

it('the people of one tenant sign in, and those of another do not', async () => {
  const { stub, signsIn } = await atEntra('/ours.example/v2.0', `${ENTRA}/ours/v2.0`);
  stub.person = { iss: `${ENTRA}/ours/v2.0`, tid: 'ours', roles: ['admin'] };
  expect(await signsIn()).toMatchObject({ kind: 'signed_in', role: 'admin' });
  stub.person = { iss: `${ENTRA}/of-strangers/v2.0`, tid: 'of-strangers', roles: ['admin'] };
  expect(await signsIn()).toMatchObject({ kind: 'refused' });
});
