import { expect, it } from 'vitest';
import { CLIENT_ID } from '../support/issuer.ts';
import { person } from './support/person.ts';

it.each([
  ['for another client', { aud: 'another-client' }, /"aud" \(audience\) claim/],
  ['of another sign-in', { nonce: 'another' }, /"nonce"/],
  ['that is not good yet', { nbf: Math.floor(Date.now() / 1000) + 300 }, /"nbf"/],
])('the log names what does not fit of a token %s', async (_, claims, why) => {
  const { stub, signsIn } = await person();
  stub.person = { roles: ['support'], ...claims };
  expect(await signsIn()).toEqual({ kind: 'refused', why: expect.stringMatching(why) });
});

it('the log says in the issuer’s words why it refuses the client, or the person', async () => {
  const wrong = await person({ clientSecret: 'wrong' });
  expect(await wrong.signsIn()).toEqual({ kind: 'refused', why: 'invalid_client' });
  const { stub, signsIn } = await person();
  stub.refusal = { error: 'access_denied', error_description: `${CLIENT_ID} is not for you` };
  expect(await signsIn()).toEqual({
    kind: 'denied',
    why: `access_denied: ${CLIENT_ID} is not for you`,
  });
});

it('the log names both issuers where the metadata is another’s', async () => {
  const { stub, signsIn } = await person();
  stub.named = 'https://another.example';
  const why = `expected ${stub.url}/, it names https://another.example`;
  await expect(signsIn()).rejects.toThrow(why);
});

it('the log says which status an address without metadata answers', async () => {
  const { stub } = await person();
  const { signsIn } = await person({ issuer: `${stub.url}/realms/x` });
  await expect(signsIn()).rejects.toThrow('status 404');
});

it('the log keeps only the beginning of what a browser says of the issuer', async () => {
  const { stub, signsIn } = await person();
  stub.refusal = { error: 'x'.repeat(5_000) };
  expect(await signsIn()).toEqual({ kind: 'refused', why: 'x'.repeat(500) });
});
