# A small image: the static program of `make dist` and nothing else.
#
#   make dist
#   docker build -t nacre .
#   docker run --rm -u "$(id -u):$(id -g)" -e HOME=/home -v "$HOME:/home" -v "$PWD:/work" nacre memory search queue
#
# There is no git in it: history is kept by runs only, and what git ignores is read from `.gitignore` alone.
FROM scratch
COPY target/dist/nacre /nacre
WORKDIR /work
ENTRYPOINT ["/nacre"]
