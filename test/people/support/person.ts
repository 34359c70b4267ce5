import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { CodeFlow } from '../../../src/people/code-flow.ts';
import { Issuer, type IssuerSettings } from '../../../src/people/issuer.ts';
import { IssuerKeys } from '../../../src/people/issuer-keys.ts';
import { CLIENT_ID, CLIENT_SECRET, startIssuer } from '../../support/issuer.ts';

/** An issuer, and somebody who can sign in there repeatedly. */
export async function person(own: Partial<IssuerSettings> = {}) {
  const stub = await startIssuer();
  onTestFinished(() => stub.close());
  stub.person = { email: 'ann@example.com', roles: 'support' };
  const settings = {
    ...{ issuer: stub.url, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
    ...{
      audience: CLIENT_ID,
      rolesClaim: 'roles',
      rolesPrefix: '',
      scopes: 'openid email',
      ...own,
    },
  };
  const codeFlow = new CodeFlow(new Issuer(settings, systemClock), new IssuerKeys(systemClock));
  const signsIn = async () => {
    const { url, pending } = await codeFlow.begin(
      'https://console.example/console/callback',
      false,
    );
    const { headers } = await fetch(url, { redirect: 'manual' });
    return await codeFlow.finish(headers.get('location') ?? '', pending);
  };
  return { stub, signsIn };
}
