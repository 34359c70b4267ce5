import { expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };

/** Runs two programs, one after the other, and both are over in seconds. */
const SHORT = ['check', 'postinstall'];

it('every npm script becomes its program, so that a signal to npm reaches it', () => {
  const scripts = Object.entries(pkg.scripts).filter(([name]) => !SHORT.includes(name));
  // npm signals the shell that it starts; a shell that waits would leave the program behind.
  expect(scripts.filter(([, script]) => !/^exec (node|vitest) /.test(script))).toEqual([]);
  expect(scripts.length).toBeGreaterThan(8);
});
