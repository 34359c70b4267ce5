import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { PERSON_ROLES, rightsOf } from '../../domain/caller.ts';
import { json, serve } from '../answers.ts';
import { checkedBody, wordAmong } from '../input.ts';
import { consoleOrigin } from './origin.ts';
import { newConsoleSecret, type People, secretHash } from './people.ts';

/** docs/reference.md, People. */
const LINK_MS = 60_000;

const linkBody = z.strictObject({ role: wordAmong(PERSON_ROLES).default('admin') });

/** Who the caller is, and links that sign a browser in as the caller, in any role. */
export function peopleRoutes(
  app: FastifyInstance,
  { sessions, consoleUrl }: Pick<People, 'sessions' | 'consoleUrl'>,
): void {
  serve(app, 'GET', '/me', 'read', (_request, { actor, role }) =>
    json({ actor, role, rights: rightsOf(role) }),
  );

  serve(app, 'POST', '/console/links', 'administer', async (request, { actor }) => {
    const input = checkedBody(linkBody, request);
    if (!('fields' in input)) return input;
    const { role } = input.fields;
    const secret = newConsoleSecret();
    const expiresAt = await sessions.makeLink(secretHash(secret), { actor, role }, LINK_MS);
    const url = `${consoleOrigin(request, consoleUrl)}/console/link#${secret}`;
    return json({ url, role, expiresAt: expiresAt.toISOString() }, 201);
  });
}
