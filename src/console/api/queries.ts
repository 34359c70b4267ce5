import { QueryClient, useQuery } from '@tanstack/react-query';
import { AnswerError, type CallOptions, call } from './call.ts';
import type { Answers, Route } from './wire.ts';

/** What somebody looks at is asked for anew this often; a page in the background is not. */
export const LIVE_MS = 3_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A machine that thinks it is offline would wait for ever and say nothing; it may still reach the gateway.
      networkMode: 'always',
      // A refusal stays one; only silence is worth another try.
      retry: (count, error) => count < 1 && isPassing(error),
      refetchOnWindowFocus: true,
      staleTime: 1_000,
    },
  },
});

function isPassing(error: Error): boolean {
  return error instanceof AnswerError && (error.status === 0 || error.status >= 500);
}

interface LiveOptions extends Pick<CallOptions, 'path' | 'query'> {
  readonly isEnabled?: boolean;
  /** False: asked for once, also where each question is put on record. */
  readonly everyMs?: number | false;
}

/** An answer of the admin API that is kept current while somebody looks. */
export function useLive<R extends Extract<Route, `GET ${string}`>>(
  route: R,
  { isEnabled = true, everyMs = LIVE_MS, ...options }: LiveOptions = {},
) {
  const isLive = everyMs !== false;
  return useQuery<Answers[R]>({
    queryKey: [route, options],
    queryFn: ({ signal }) => call(route, { ...options, signal }),
    enabled: isEnabled,
    refetchInterval: untilSignedOut(everyMs),
    refetchOnWindowFocus: isLive,
    refetchOnReconnect: isLive,
  });
}

/** Who is known no more is not asked for again and again. */
export function untilSignedOut(everyMs: number | false) {
  return (query: { readonly state: { readonly error: Error | null } }) => {
    const { error } = query.state;
    return error instanceof AnswerError && error.status === 401 ? false : everyMs;
  };
}

/** After a change: everything on the page is asked for anew. */
export function refreshAll(): Promise<void> {
  return queryClient.invalidateQueries();
}
