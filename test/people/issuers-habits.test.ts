import { expect, it } from 'vitest';
import { person } from './support/person.ts';

it.each([
  ['that puts everything into the ID token', { email: 'ann@x.example', roles: 'support' }, {}],
  ['that tells everything only when asked', {}, { email: 'ann@x.example', roles: ['support'] }],
  ['that tells the email only when asked', { roles: ['support'] }, { email: 'ann@x.example' }],
  ['that tells the roles only when asked', { email: 'ann@x.example' }, { roles: 'support' }],
])('a person has the same name and role at an issuer %s (I12)', async (_, claims, userInfo) => {
  const { stub, signsIn } = await person();
  Object.assign(stub, { person: claims, userInfo });
  expect(await signsIn()).toEqual({ kind: 'signed_in', actor: 'ann@x.example', role: 'support' });
});

it('a person whose roles stand in a part of a claim, the rest of which is in the ID token, has them', async () => {
  const { stub, signsIn } = await person({ rolesClaim: 'access.console.roles' });
  const told = { access: { console: { roles: ['finance'] } } };
  Object.assign(stub, { person: { access: { account: { roles: ['view'] } } }, userInfo: told });
  expect(await signsIn()).toMatchObject({ kind: 'signed_in', role: 'finance' });
});

it.each([[[]], ['auditor'], [null]])(
  'a person whom the ID token gives no role, %j, gets none by the user info either',
  async (roles) => {
    const { stub, signsIn } = await person();
    Object.assign(stub, { person: { roles }, userInfo: { roles: ['admin'] } });
    expect(await signsIn()).toMatchObject({ kind: 'roleless' });
  },
);

it('a person whose role is known is not kept out by an issuer that tells nothing more', async () => {
  const { stub, signsIn } = await person();
  Object.assign(stub, { person: { roles: ['support'] }, userInfo: 500 });
  expect(await signsIn()).toEqual({ kind: 'signed_in', actor: 'somebody', role: 'support' });
});

it('an email that the issuer doubts names nobody, also where only the user info tells it (I12)', async () => {
  const { stub, signsIn } = await person();
  const userInfo = { email: 'boss@x.example', email_verified: false };
  Object.assign(stub, { person: { roles: ['support'] }, userInfo });
  expect(await signsIn()).toMatchObject({ kind: 'signed_in', actor: 'somebody' });
});

it('an issuer is asked for no email that was not asked for at the sign-in', async () => {
  const { stub, signsIn } = await person({ scopes: 'openid' });
  Object.assign(stub, { person: { roles: ['support'] }, userInfo: { email: 'ann@x.example' } });
  expect(await signsIn()).toMatchObject({ kind: 'signed_in', actor: 'somebody' });
  expect(stub.asked.get('/userinfo')).toBeUndefined();
});
