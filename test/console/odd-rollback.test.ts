import { expect, it } from 'vitest';
import { storyOf } from '../../src/console/pages/bet/story.ts';
import { bet, operation } from './support/shown-bet.ts';

it("tells what a rollback names that is not its bet's, and that no wallet is told of it", () => {
  const told = (request: string) =>
    storyOf(bet({ operations: [operation({ operation: 'rollback', request })] }))[0]?.text;
  expect(told('{"amount":500,"currency":"EUR"}')).toBe(
    'The service asked to roll the bet back, naming 500 EUR, of which no wallet is told.',
  );
  for (const request of ['{"amount":12.1,"currency":"USD"}', '{"amount":null}', '{}']) {
    expect(told(request)).toBe('The service asked to roll the bet back.');
  }
});
