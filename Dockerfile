# A small image that contains only the static program built by `make dist`.
#
#   make dist
#   docker build -t nacre .
#   docker run --rm -u "$(id -u):$(id -g)" -e HOME=/home -v "$HOME:/home" -v "$PWD:/work" nacre memory search queue
#
# The image contains no git: history comes only from runs, and ignore rules only from `.gitignore`.
FROM scratch
COPY target/dist/x86_64-unknown-linux-musl/nacre /nacre
WORKDIR /work
ENTRYPOINT ["/nacre"]
