/** Signal handlers come first: loading the gateway takes half a second, in which no SIGTERM must be lost. */
// SIGHUP asks to reload the configuration, which is read later anyway; without a handler it ends the process.
process.on('SIGHUP', () => undefined);
let stop = (): void => process.exit(0);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop());

const { prepareForSlowNames } = await import('./lib/thread-pool.ts');
prepareForSlowNames(process.env);
const { runGateway } = await import('./process/run-gateway.ts');
stop = runGateway();
