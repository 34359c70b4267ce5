import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the proxy does with each request. */
export type Answering =
  | 'passes it on'
  | 'redirects elsewhere'
  | 'redirects here'
  | 'answers by its page'
  | 'refuses'
  | 'finds nothing';

/** A proxy in front of the console that has people sign in at itself, as many companies have. */
export interface AuthProxy {
  readonly url: string;
  answers: Answering;
  close(): Promise<void>;
}

const LOGIN = '<!doctype html><title>Example Corp</title><h1>Sign in to Example Corp</h1>';

export async function startAuthProxy(adminUrl: string): Promise<AuthProxy> {
  const server = createServer((incoming, outgoing) => {
    const isLogin = incoming.url?.startsWith('/login') === true;
    if (isLogin || proxy.answers !== 'passes it on') {
      incoming.resume();
      turnAway(outgoing, isLogin ? 'answers by its page' : proxy.answers);
      return;
    }
    const { method, headers } = incoming;
    const passed = request(`${adminUrl}${incoming.url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const proxy: AuthProxy = {
    url: `http://127.0.0.1:${port}`,
    answers: 'passes it on',
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return proxy;
}

function turnAway(outgoing: ServerResponse, how: Answering): void {
  switch (how) {
    case 'redirects elsewhere':
      outgoing.writeHead(302, { location: 'http://login.example.invalid/login' }).end();
      break;
    case 'redirects here':
      outgoing.writeHead(302, { location: '/login' }).end();
      break;
    default: {
      const status = { refuses: 401, 'finds nothing': 404 }[how as string] ?? 200;
      outgoing.writeHead(status, { 'content-type': 'text/html' }).end(LOGIN);
    }
  }
}
