// Loaded before everything else of a process whose wall clock is to be wrong (`--import`).
const skewMs = Number(process.env.TORTURE_SKEW_MS ?? '0');
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(realNow() + skewMs);
    else super(...given);
  }

  static now() {
    return realNow() + skewMs;
  }
};
