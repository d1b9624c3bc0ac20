//! Statements about projects, each in three wordings and with its opposite.
//!
//! Each memory gets different values for the placeholders `{c}` (a part of the system), `{t}` and
//! `{u}` (tools), `{p}` (a person), `{d}` (a day), and `{n}` and `{m}` (numbers), so that hundreds
//! of memories are similar but distinct.

pub(crate) struct Frame {
    pub(crate) titles: [&'static str; 3],
    pub(crate) bodies: [&'static str; 3],
    /// Title and body of the opposite statement.
    pub(crate) contrary: (&'static str, &'static str),
}

const fn frame(
    titles: [&'static str; 3],
    bodies: [&'static str; 3],
    contrary: (&'static str, &'static str),
) -> Frame {
    Frame { titles, bodies, contrary }
}

pub(crate) const FRAMES: &[Frame] = &[
    frame(
        [
            "Requests to {c} time out after {n} seconds",
            "{c} gives up on a request after {n} seconds",
            "The timeout for requests to {c} is {n} seconds",
        ],
        [
            "During longer waits, threads piled up until the pool was empty.",
            "When requests waited any longer, the thread pool ran out of threads.",
            "Longer waits exhausted the thread pool.",
        ],
        (
            "Requests to {c} no longer time out after {n} seconds but after {m}",
            "{n} seconds was too short for big customers, so the timeout for {c} was changed to {m}.",
        ),
    ),
    frame(
        ["Use {t} for {c}", "{c} is built on {t}", "We chose {t} for {c}"],
        [
            "We tried {u}, but it could not keep up with the load.",
            "Under load {u} fell behind, so it was ruled out.",
            "{u} could not keep up when we tried it under load.",
        ],
        (
            "Do not use {t} for {c} any more; it moved to {u}",
            "{t} turned out to be a mistake; {c} was migrated to {u} and {t} is gone.",
        ),
    ),
    frame(
        [
            "{p} must approve changes to {c}",
            "Changes to {c} need approval from {p}",
            "Nothing in {c} changes unless {p} approves it",
        ],
        [
            "An unreviewed change once took billing down for a day.",
            "Billing was down for a day after a change that nobody had reviewed.",
            "A change without review broke billing for a whole day.",
        ],
        (
            "{p} no longer has to approve changes to {c}",
            "The approval was a bottleneck; from now on anybody on the team may approve changes to {c}.",
        ),
    ),
    frame(
        [
            "Run {t} before committing to {c}",
            "Before committing to {c}, run {t}",
            "Commits to {c} require a run of {t} first",
        ],
        [
            "Otherwise CI rejects the commit after twenty minutes.",
            "CI rejects it otherwise, but only after twenty minutes.",
            "Without it, CI fails twenty minutes later.",
        ],
        (
            "There is no need to run {t} before committing to {c} any more",
            "CI now runs {t} by itself and pushes the result, so leave it out.",
        ),
    ),
    frame(
        [
            "{c} is deployed every {d}",
            "Deployments of {c} take place on {d}",
            "{d} is the day when {c} is deployed",
        ],
        [
            "Support is fully staffed then and can answer questions.",
            "That is when support has enough people to answer.",
            "On that day, all of support is there to take calls.",
        ],
        (
            "{c} is no longer deployed every {d} but on each merge",
            "Waiting for {d} was given up; {c} now uses continuous deployment instead.",
        ),
    ),
    frame(
        [
            "Logs from {c} are kept for {n} days",
            "{c} keeps its logs for {n} days",
            "We retain logs from {c} for {n} days",
        ],
        [
            "The auditors asked for this in the spring review.",
            "In the spring review, the auditors asked for it.",
            "The auditors demanded it in spring.",
        ],
        (
            "Logs from {c} are now kept for {m} days instead of {n}",
            "The auditors changed the rule, and {n} days is no longer enough for {c}.",
        ),
    ),
    frame(
        [
            "Never mock {t} in tests for {c}",
            "The tests for {c} do not mock {t}",
            "Tests for {c} use the real {t}, not a mock",
        ],
        [
            "Tests with a mock stayed green while the real thing failed in production.",
            "Production failed even though the mocked test was green.",
            "The mocked test passed, and then production broke.",
        ],
        (
            "Mock {t} in tests for {c} from now on",
            "With the real {t}, the tests for {c} took forty minutes; a mock is fine again.",
        ),
    ),
    frame(
        [
            "{c} accepts at most {n} items in one call",
            "One call to {c} may carry {n} items at most",
            "Send no more than {n} items to {c} at once",
        ],
        [
            "Beyond that, the gateway truncates the body without an error.",
            "The gateway silently truncates the body beyond that.",
            "The gateway truncates anything larger, silently.",
        ],
        (
            "{c} now accepts {m} items in one call instead of {n}",
            "The gateway was replaced, so the limit of {n} items for {c} is obsolete.",
        ),
    ),
    frame(
        [
            "{p} knows how {c} works, so ask there first",
            "Ask {p} about {c} before you ask anybody else",
            "Questions about {c} go to {p}",
        ],
        [
            "The documentation is two years old and wrong in places.",
            "What has been written down is two years old and partly wrong.",
            "The docs are two years out of date and not reliable.",
        ],
        (
            "{p} no longer looks after {c}",
            "{p} left the team, so do not ask there any more; the docs for {c} were rewritten.",
        ),
    ),
    frame(
        [
            "Feature flags for {c} live in {t}",
            "{t} holds the feature flags for {c}",
            "{c} reads its feature flags from {t}",
        ],
        [
            "Product wants to switch them without a release.",
            "That way, product can flip them without a release.",
            "Product managers toggle them and need no release for that.",
        ],
        (
            "Feature flags for {c} moved out of {t}",
            "{t} is no longer used for flags in {c}; they are in a plain file now, because the service was too slow.",
        ),
    ),
    frame(
        [
            "The cache in {c} must be cleared after a migration",
            "After a migration, clear the cache in {c}",
            "Migrations leave {c} with a stale cache; clear it",
        ],
        [
            "Customers were shown stale rows for an hour.",
            "For an hour, customers saw old rows.",
            "Customers saw outdated rows for about an hour.",
        ],
        (
            "The cache in {c} need not be cleared after a migration any more",
            "{c} now versions its keys by itself, so clearing is not necessary and only wastes time.",
        ),
    ),
    frame(
        [
            "{c} writes times in UTC",
            "Times in {c} are stored in UTC",
            "All timestamps in {c} are UTC",
        ],
        [
            "Local times broke the reports when the clocks changed.",
            "When the clocks changed, reports with local times were wrong.",
            "Reports were off after the clock change because of local times.",
        ],
        (
            "{c} no longer writes times in UTC but uses local time",
            "The bank insists on local time for {c}, so UTC was dropped there.",
        ),
    ),
    frame(
        [
            "Retry calls to {c} {n} times",
            "Calls to {c} are retried {n} times",
            "A failed call to {c} is retried {n} more times",
        ],
        [
            "Its load balancer drops a connection now and then.",
            "Now and then, the balancer drops a connection.",
            "The balancer in front of it sometimes drops connections.",
        ],
        (
            "Calls to {c} are not retried {n} times any more",
            "Retries made the outage of {c} worse; one attempt is enough after all.",
        ),
    ),
    frame(
        [
            "{c} needs {t} version {n}",
            "{c} requires version {n} of {t}",
            "{c} only works with {t} {n}",
        ],
        [
            "The next major release changed the wire format.",
            "The wire format changes in the next major release.",
            "The next major version has a different wire format.",
        ],
        (
            "{c} now needs {t} version {m}, not {n}",
            "{t} {n} is deprecated; {c} was upgraded to {m} last week.",
        ),
    ),
    frame(
        [
            "Do not log the request body in {c}",
            "{c} must not log request bodies",
            "Request bodies must never go into the logs of {c}",
        ],
        [
            "They contain customer addresses, and the log is shared.",
            "The log is shared, and the bodies contain customer addresses.",
            "There are customer addresses in them, and others can read the log.",
        ],
        (
            "Log the request body in {c} again",
            "Nobody could debug {c} without them; addresses are masked now, so logging is allowed.",
        ),
    ),
    frame(
        [
            "The nightly job for {c} starts at {n}:15",
            "{c} runs its nightly job at {n}:15",
            "At {n}:15, the nightly job for {c} starts",
        ],
        [
            "It locks the orders table for ten minutes, so schedule nothing then.",
            "The orders table is locked for ten minutes, so do not schedule anything then.",
            "Nothing else should be scheduled then, because the orders table is locked.",
        ],
        (
            "The nightly job for {c} no longer starts at {n}:15",
            "It was moved to {m}:45, because the backup of {c} needed the earlier slot.",
        ),
    ),
    frame(
        [
            "{c} is flaky on {t}",
            "Test failures in {c} on {t} are often not real",
            "On {t}, the tests for {c} fail at random",
        ],
        [
            "Rerun the tests once before you look for a cause in your change.",
            "Before looking for a cause in your change, run them again.",
            "Run them a second time before you suspect your change.",
        ],
        (
            "{c} is stable on {t} again",
            "The race in {c} is fixed, so a failure on {t} is real now; do not rerun the tests.",
        ),
    ),
    frame(
        [
            "Pull requests for {c} must stay below {n} lines",
            "Keep pull requests to {c} under {n} lines",
            "No pull request for {c} has more than {n} lines",
        ],
        [
            "{p} reviews them on the train and wants small ones.",
            "They should be small, because {p} reviews them on the train.",
            "{p} reads them on the train and prefers small ones.",
        ],
        (
            "Pull requests for {c} may be larger than {n} lines now",
            "The limit of {n} lines for {c} is given up; splitting cost more than it saved.",
        ),
    ),
    frame(
        [
            "Secrets for {c} come from {t}",
            "{c} gets its secrets from {t}",
            "{t} is where the secrets for {c} are kept",
        ],
        [
            "They were in the environment and ended up in a crash dump.",
            "A crash dump contained them when they were in the environment.",
            "They leaked from the environment into a crash dump.",
        ],
        (
            "Secrets for {c} no longer come from {t}",
            "{t} was switched off; from now on, {c} takes them from mounted files.",
        ),
    ),
    frame(
        [
            "{c} sends mail only through {t}",
            "Mail from {c} goes through {t}",
            "{t} delivers all mail from {c}",
        ],
        [
            "Everything else ended up in spam folders at large providers.",
            "Large providers treat everything else as spam.",
            "Mail sent any other way landed in spam at the big providers.",
        ],
        (
            "{c} does not send mail through {t} any more",
            "{t} doubled its price, so mail from {c} was moved to {u}.",
        ),
    ),
    frame(
        [
            "Start {t} before the integration tests for {c}",
            "The integration tests for {c} need {t} to be running",
            "Without {t}, the integration tests for {c} hang",
        ],
        [
            "They wait two minutes and then report a refused connection.",
            "After two minutes, they fail with a refused connection.",
            "They report a refused connection two minutes later.",
        ],
        (
            "The integration tests for {c} now start {t} by themselves",
            "There is no need to run {t} by hand for {c} any more.",
        ),
    ),
    frame(
        [
            "Error messages in {c} never show internal ids",
            "{c} must not show internal ids in errors",
            "No internal ids appear in errors from {c}",
        ],
        [
            "Support asked for this, because people post them in forums.",
            "People paste them into forums, so support asked for this.",
            "Users post them publicly, so support asked for it.",
        ],
        (
            "Error messages in {c} show internal ids again",
            "Support changed its mind: without ids, nobody could find the cause of errors in {c}.",
        ),
    ),
    frame(
        [
            "{c} is written in {t} and stays that way",
            "Keep {c} in {t}",
            "{c} will not be rewritten: it stays in {t}",
        ],
        [
            "A rewrite was started twice and abandoned twice.",
            "Twice we started a rewrite, and twice we abandoned it.",
            "Two attempts to rewrite it were abandoned.",
        ],
        (
            "{c} is being rewritten from {t} to {u}",
            "The old {t} code in {c} could not be built any more, so it goes away after all.",
        ),
    ),
    frame(
        [
            "Backups of {c} are tested every {d}",
            "Every {d}, a backup of {c} is restored as a test",
            "We restore {c} from its backup each {d}",
        ],
        [
            "Last year a backup could not be read when it was needed.",
            "When it was needed last year, a backup was unreadable.",
            "Last year, an unreadable backup was noticed too late.",
        ],
        (
            "Backups of {c} are not tested every {d} any more",
            "The restore test for {c} now runs by itself after each backup.",
        ),
    ),
];

/// Combined with `ROLES` to name parts of a system, so that each word is shared by many parts.
pub(crate) const DOMAINS: &[&str] = &[
    "payments",
    "invoice",
    "login",
    "stock",
    "warehouse",
    "newsletter",
    "fraud",
    "calendar",
    "coupon",
    "shipping",
    "returns",
    "catalogue",
    "review",
    "translation",
    "partner",
    "license",
    "survey",
    "sensor",
    "route",
    "ticket",
    "document",
    "currency",
    "loyalty",
    "audit",
];
pub(crate) const ROLES: &[&str] = &[
    "service",
    "importer",
    "exporter",
    "page",
    "worker",
    "scheduler",
    "gateway",
    "dashboard",
    "parser",
    "indexer",
    "validator",
    "archive",
    "client",
    "queue",
    "renderer",
];

pub(crate) const TOOLS: &[&str] = &[
    "Postgres",
    "Redis",
    "Kafka",
    "RabbitMQ",
    "SQLite",
    "Vitest",
    "Playwright",
    "Terraform",
    "Ansible",
    "Vault",
    "Consul",
    "Nginx",
    "Envoy",
    "Grafana",
    "Sentry",
    "Datadog",
    "Celery",
    "Sidekiq",
    "Django",
    "Rails",
    "Kotlin",
    "Elixir",
    "Haskell",
    "Scala",
    "Bazel",
    "Gradle",
    "Webpack",
    "Vite",
    "Esbuild",
    "Docker",
    "Podman",
    "Nomad",
    "Firebase",
    "Supabase",
    "Stripe",
    "Adyen",
    "Mailgun",
    "Postmark",
    "LaunchDarkly",
    "Unleash",
    "Cypress",
    "Pytest",
    "Ruff",
    "Mypy",
    "Eslint",
    "Prettier",
    "Clickhouse",
    "Cassandra",
    "Neo4j",
    "Memcached",
];

pub(crate) const PEOPLE: &[&str] = &[
    "Mara", "Jonas", "Priya", "Tomasz", "Aisha", "Lukas", "Noor", "Emeka", "Sofia", "Hiro", "Lena",
    "Diego", "Yara", "Oskar", "Mei", "Farid", "Greta", "Ivan", "Zoe", "Kofi",
];

pub(crate) const DAYS: &[&str] =
    &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Unrelated remarks that make the text of each memory unique.
pub(crate) const ASIDES: &[&str] = &[
    "The user said this twice in one week.",
    "This came up while the checkout was being rewritten.",
    "It was agreed during planning for the third quarter.",
    "A customer in Lisbon found it first.",
    "The first attempt was reverted after an hour.",
    "It caused two incidents in March.",
    "It is not written down anywhere else.",
    "A new colleague lost a day to it.",
    "The vendor confirmed it in a support ticket.",
    "It only shows up under real traffic.",
    "Nobody objected when it was proposed.",
    "The reason predates the current team.",
    "It was measured on the staging cluster.",
    "An intern noticed it by chance.",
    "The old wiki page says something else.",
    "It applies to the European region too.",
    "Legal looked at it and agreed.",
    "The dashboard shows it in the second row.",
    "It was hidden behind a flag for a month.",
    "The post-mortem has the details.",
    "Three teams depend on it.",
    "It surprised everyone at the demo.",
    "The budget for it was approved.",
    "It was the cheapest of four options.",
];
