import { expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };

/** Each runs two programs, one after another, and both end within seconds. */
const SHORT = ['check', 'postinstall'];

it('every npm script becomes its program, so that a signal to npm reaches it', () => {
  const scripts = Object.entries(pkg.scripts).filter(([name]) => !SHORT.includes(name));
  // npm sends signals to the shell that it starts; a shell that waits would leave the program running.
  expect(scripts.filter(([, script]) => !/^exec (node|vitest) /.test(script))).toEqual([]);
  expect(scripts.length).toBeGreaterThan(8);
});
