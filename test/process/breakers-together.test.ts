import { describe, expect, it } from 'vitest';
import type { BreakerVerdict } from '../../src/outbound/breaker-settings.ts';
import {
  type BreakerNews,
  BreakersTogether,
  type Tell,
} from '../../src/process/breakers-together.ts';

const ALPHA = { operatorId: 'alpha', callClass: 'money' } as const;

function member() {
  const heard: string[] = [];
  const tell: Tell = ({ operatorId, callClass, found }: BreakerNews) =>
    void heard.push(`${operatorId}/${callClass} ${found}`);
  return { heard, tell };
}

function three() {
  const together = new BreakersTogether();
  const [one, two, three] = [member(), member(), member()];
  for (const { tell } of [one, two, three]) together.join(tell);
  const found = ({ tell }: { readonly tell: Tell }, verdict: BreakerVerdict) =>
    together.found(tell, { ...ALPHA, verdict });
  return { together, one, two, three, found };
}

describe('the breakers of several processes', () => {
  it('open where the first one opened, and close where it closed (I7)', () => {
    const { one, two, three: third, found } = three();
    found(one, 'opened');
    found(one, 'closed');
    expect(one.heard).toEqual([]);
    expect(two.heard).toEqual(['alpha/money open', 'alpha/money closed']);
    expect(third.heard).toEqual(two.heard);
  });

  it('let one probe: the second to open is told to follow', () => {
    const { one, two, three: third, found } = three();
    found(one, 'opened');
    found(two, 'opened');
    expect(one.heard).toEqual([]);
    expect(two.heard).toEqual(['alpha/money open', 'alpha/money open']);
    expect(third.heard).toEqual(['alpha/money open']);
  });

  it('stay open for as long as the probes of the first one fail', () => {
    const { one, two, found } = three();
    found(one, 'opened');
    found(one, 'reopened');
    expect(two.heard).toEqual(['alpha/money open', 'alpha/money open']);
  });

  it('follow another one that has probed, because the first is frozen or without calls', () => {
    const { one, two, found } = three();
    found(one, 'opened');
    found(two, 'reopened');
    expect(one.heard).toEqual(['alpha/money open']);
    found(one, 'opened');
    expect(one.heard).toEqual(['alpha/money open', 'alpha/money open']);
  });

  it('close even if another process than the first found the wallet well', () => {
    const { one, two, three: third, found } = three();
    found(one, 'opened');
    found(two, 'closed');
    expect(one.heard).toEqual(['alpha/money closed']);
    expect(third.heard).toEqual(['alpha/money open', 'alpha/money closed']);
  });

  it('are told to a process that starts later', () => {
    const { together, one, found } = three();
    found(one, 'opened');
    const late = member();
    together.join(late.tell);
    expect(late.heard).toEqual(['alpha/money open']);
  });

  it('are led by another one once the first has ended', () => {
    const { together, one, two, three: third, found } = three();
    found(one, 'opened');
    together.leave(one.tell);
    found(two, 'opened');
    expect(one.heard).toEqual([]);
    expect(two.heard).toEqual(['alpha/money open']);
    expect(third.heard).toEqual(['alpha/money open', 'alpha/money open']);
  });

  it('are of one operator and one class each (I7)', () => {
    const { together, one, two, found } = three();
    found(one, 'opened');
    together.found(two.tell, { operatorId: 'beta', callClass: 'money', verdict: 'opened' });
    together.found(two.tell, { operatorId: 'alpha', callClass: 'read', verdict: 'opened' });
    expect(two.heard).toEqual(['alpha/money open']);
    expect(one.heard).toEqual(['beta/money open', 'alpha/read open']);
  });
});
