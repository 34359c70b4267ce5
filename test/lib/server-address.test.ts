import { describe, expect, it } from 'vitest';
import { ignoredSchema, noUrl, shownAddress } from '../../src/lib/server-address.ts';

it('shows where a server is, and not who asks', () => {
  expect(shownAddress('postgresql://user:geheim@db:5432/wagergate?sslmode=require')).toBe(
    'postgresql://db:5432/wagergate',
  );
  expect(shownAddress('redis://:geheim@redis')).toBe('redis://redis');
  expect(shownAddress('redis+sentinel://a:26379/main/1?sentinelPassword=geheim')).toBe(
    'redis+sentinel://a:26379/main/1',
  );
});

it.for(['/geheim', '12/geheim', '12?geheim', '12#geheim', 'g@h/geheim', '/ge@heim'])(
  'shows nothing if a password is not percent-encoded: %s',
  (password) => {
    const shown = shownAddress(`postgresql://user:${password}@db:5432/wagergate`);
    expect(shown).toMatch(/^postgresql:\/\/…, not shown: .*%2F/);
    expect(shown).not.toMatch(/user|heim|12/);
  },
);

describe('a schema in an address of PostgreSQL', () => {
  const base = 'postgresql://user:hush@host/gateway';

  it.each(['schema', 'currentSchema', 'search_path'])(
    'that other clients know as %s is not ignored in silence',
    (name) => {
      const said = ignoredSchema(`${base}?sslmode=verify-full&${name}=journal`);
      expect(said).toMatch(/^names a schema by \w+=….*options=-c%20search_path%3D/);
    },
  );

  it.each(['', '?schema=public', '?schema=', '?options=-c%20search_path%3Djournal'])(
    'is none in %j',
    (search) => {
      expect(ignoredSchema(`${base}${search}`)).toBeUndefined();
    },
  );
});

describe('an address that is no URL', () => {
  it("is told to name localhost where it has a socket's folder and no host, as clouds write it", () => {
    const said = noUrl('postgresql://user:hush@/wagergate?host=/cloudsql/x:y:z', 'e');
    expect(said).toMatch(/^names no host: .*@localhost\/wagergate\?host=\/folder$/);
    expect(URL.canParse(said.split(' ').at(-1) ?? '')).toBe(true);
  });

  it.each(['db:5432/@/x', 'localhost', 'postgresql://user:pass word@:x/db'])(
    'is told what one looks like: %s',
    (text) => {
      expect(noUrl(text, 'postgresql://host')).toBe(
        'is not a URL; expected e.g. postgresql://host',
      );
    },
  );
});
