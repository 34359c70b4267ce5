import pkg from '../../package.json' with { type: 'json' };

/** The flags with which `npm start` runs the gateway: what is measured is what people run. */
export const START_FLAGS: readonly string[] = pkg.scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--'));
