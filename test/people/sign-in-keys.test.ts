import { generateKeyPair } from 'jose';
import { expect, it } from 'vitest';
import { IssuerUnavailable } from '../../src/people/issuer.ts';
import { person } from './support/person.ts';

it.each([
  ['', {}],
  [' that bears the name of the one before', { sameKid: true }],
])('a person signs in at once after the issuer has taken a new key%s', async (_, how) => {
  const { stub, signsIn } = await person();
  const signedIn = { kind: 'signed_in', actor: 'ann@example.com', role: 'support' };
  expect(await signsIn()).toEqual(signedIn);
  await stub.rotate(how);
  expect(await signsIn()).toEqual(signedIn);
});

it('accepts no token that another key has signed', async () => {
  const { stub, signsIn } = await person();
  stub.impostor = (await generateKeyPair('RS256')).privateKey;
  expect(await signsIn()).toEqual({ kind: 'refused', why: 'signature verification failed' });
  stub.impostor = undefined;
  expect(await signsIn()).toMatchObject({ kind: 'signed_in' });
});

it('says of an issuer whose keys cannot be read that it is away', async () => {
  const { stub, signsIn } = await person();
  stub.isKeyless = true;
  await expect(signsIn()).rejects.toBeInstanceOf(IssuerUnavailable);
});

it('says of an issuer whose new keys cannot be read that it is away, not that it refuses', async () => {
  const { stub, signsIn } = await person();
  expect(await signsIn()).toMatchObject({ kind: 'signed_in' });
  await stub.rotate();
  stub.isKeyless = true;
  await expect(signsIn()).rejects.toThrow('no keys of the issuer: it answered 500');
  stub.isKeyless = false;
  expect(await signsIn()).toMatchObject({ kind: 'signed_in' });
  stub.impostor = (await generateKeyPair('RS256')).privateKey;
  expect(await signsIn()).toEqual({ kind: 'refused', why: 'signature verification failed' });
});

it.each([
  ['says nothing of how it takes the client’s secret', undefined],
  ['takes it in the header alone', ['client_secret_basic']],
  ['takes it in the body alone', ['client_secret_post']],
  ['takes it either way', ['client_secret_basic', 'client_secret_post']],
])('a person signs in at an issuer that %s', async (_, authMethods) => {
  const { stub, signsIn } = await person();
  stub.authMethods = authMethods;
  expect(await signsIn()).toMatchObject({ kind: 'signed_in', role: 'support' });
});

it.each([['client_secret_basic'], ['client_secret_post']])(
  'a person signs in at an issuer that knows both ways, and takes this client’s secret by %s alone',
  async (way) => {
    const { stub, signsIn } = await person();
    stub.authMethods = ['client_secret_basic', 'client_secret_post'];
    stub.registeredWay = [way];
    const atOnce = await Promise.all([signsIn(), signsIn(), signsIn()]);
    expect(atOnce.map(({ kind }) => kind)).toEqual(['signed_in', 'signed_in', 'signed_in']);
    const before = stub.asked.get('/token') ?? 0;
    expect(await signsIn()).toMatchObject({ kind: 'signed_in' });
    // What worked is tried first the next time.
    expect(stub.asked.get('/token')).toBe(before + 1);
    stub.registeredWay = [
      way === 'client_secret_post' ? 'client_secret_basic' : 'client_secret_post',
    ];
    expect(await signsIn()).toMatchObject({ kind: 'signed_in' });
  },
);

it('a secret that is wrong either way is refused, and tried at most twice', async () => {
  const { stub, signsIn } = await person({ clientSecret: 'wrong' });
  stub.authMethods = ['client_secret_basic', 'client_secret_post'];
  expect(await signsIn()).toEqual({ kind: 'refused', why: 'invalid_client' });
  expect(stub.asked.get('/token')).toBe(2);
});
