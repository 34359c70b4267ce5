/**
 * Starts the gateway and sends it SIGHUP as soon as its handlers are registered, long before it is fully loaded.
 */
process.on('newListener', (event: string | symbol) => {
  if (event !== 'SIGINT') return;
  queueMicrotask(() => {
    process.stdout.write('{"msg":"hung up on"}\n');
    process.kill(process.pid, 'SIGHUP');
  });
});

await import('../../../src/main.ts');

export {};
